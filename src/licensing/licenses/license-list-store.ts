import type { Knex } from 'knex';
import { containing } from '../../platform/database/time-boxed-read.ts';
import type { LicenseRow, LicenseStatus } from './license-state.ts';

/** The filter of a list of licenses; omitted members match all. */
export interface RowFilter {
  readonly status?: LicenseStatus | undefined;
  readonly tier?: string | undefined;
  readonly resellerId?: string | undefined;
  /** Any of these. */
  readonly search?: Search | undefined;
}

export interface Search {
  readonly noteHas: string | undefined;
  readonly keyDigest: Buffer | undefined;
  readonly holderIds: readonly string[];
}

interface Range {
  readonly before: string | undefined;
  readonly limit: number;
}

const STATUSES: readonly LicenseStatus[] = ['unused', 'redeemed', 'paused', 'banned'];

/**
 * Newest first; ids sort by time of creation. Each statement reads one index in its order, so that a page costs the
 * same in any number of licenses.
 */
export async function listLicenses(
  db: Knex,
  appId: string,
  { search, ...filter }: RowFilter,
  range: Range,
): Promise<LicenseRow[]> {
  const rows = (query: Knex.QueryBuilder) =>
    page(query.where({ app_id: appId }), range) as Knex.QueryBuilder<LicenseRow, LicenseRow[]>;
  if (search) {
    const found = await Promise.all(
      conditionsOf(search).map((where) => rows(matching(db('licenses'), filter).andWhere(where))),
    );
    return newest(found.flat(), range.limit);
  }
  if (filter.tier !== undefined && filter.status === undefined && filter.resellerId === undefined) {
    const found = [];
    for (const status of STATUSES)
      found.push(...(await rows(matching(db('licenses'), { ...filter, status }))));
    return newest(found, range.limit);
  }
  return rows(matching(db('licenses'), filter));
}

function matching(query: Knex.QueryBuilder, { status, tier, resellerId }: RowFilter): Knex.QueryBuilder {
  if (status !== undefined) query.where({ status });
  if (tier !== undefined) query.where({ tier });
  if (resellerId !== undefined) query.where({ reseller_id: resellerId });
  return query;
}

/** A license matches if one of the conditions matches. */
function conditionsOf({ noteHas, keyDigest, holderIds }: Search): ((query: Knex.QueryBuilder) => void)[] {
  return [
    ...(noteHas === undefined
      ? []
      : [(query: Knex.QueryBuilder) => void query.whereRaw(`note ilike ?`, [containing(noteHas)])]),
    ...(keyDigest === undefined
      ? []
      : [(query: Knex.QueryBuilder) => void query.where({ key_digest: keyDigest })]),
    ...(holderIds.length === 0
      ? []
      : [(query: Knex.QueryBuilder) => void query.whereIn('redeemed_by', holderIds)]),
  ];
}

function page(query: Knex.QueryBuilder, { before, limit }: Range): Knex.QueryBuilder {
  if (before !== undefined) query.where('license_id', '<', before);
  return query.orderBy('license_id', 'desc').limit(limit).select('*');
}

function newest(rows: readonly LicenseRow[], limit: number): LicenseRow[] {
  const once = new Map(rows.map((row) => [row.license_id, row]));
  return [...once.values()].sort((a, b) => (a.license_id < b.license_id ? 1 : -1)).slice(0, limit);
}
