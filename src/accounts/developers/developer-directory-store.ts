import type { Knex } from 'knex';
import { COUNTED_AT_MOST, type BoundedCount } from '../../platform/database/bounded-count.ts';
import type { AccountRow, DeveloperRow } from './developer-row.ts';

/** A developer as the administrator sees them in lists. */
export interface ListedDeveloperRow extends Pick<
  DeveloperRow,
  | 'developer_id'
  | 'email'
  | 'email_verified_at'
  | 'name'
  | 'plan_id'
  | 'created_at'
  | 'suspended_at'
  | 'suspension_reason'
> {
  readonly apps: AccountRow['apps'];
}

const COLUMNS = [
  'developer_id',
  'email',
  'email_verified_at',
  'name',
  'plan_id',
  'created_at',
  'suspended_at',
  'suspension_reason',
  'apps',
] as const;

/** The filter of a list of developers; omitted members match all. */
export interface DeveloperCondition {
  /** The beginning of the address or of the name, in lower case. */
  readonly beginning?: string | undefined;
  readonly planId?: string | undefined;
  readonly suspended?: boolean | undefined;
}

/** The upper bound of all texts with a prefix, compared by code points. */
const LAST = '\u{10FFFF}';

const WITH_EMAIL = '(email_key >= ? and email_key < ?)';
const WITH_NAME = '(name is not null and lower(name) collate "C" >= ? and lower(name) collate "C" < ?)';

/** Up to this many matches of an address, and of a name, are looked up by their indexes. */
const FEW = 1000;

/**
 * The developers whose address or name has a prefix, by the two indexes. The planner would instead scan all developers
 * in the order of the list, which is fast only if many of them match.
 * @returns undefined if many of them match
 */
async function findByBeginning(db: Knex, beginning: string): Promise<string[] | undefined> {
  const range = [beginning, beginning + LAST];
  const { rows } = await db.raw<{ rows: { developer_id: string }[] }>(
    `(select developer_id from developers where ${WITH_EMAIL} limit ${FEW + 1})
     union all
     (select developer_id from developers where ${WITH_NAME} limit ${FEW + 1})`,
    [...range, ...range],
  );
  return rows.length > FEW ? undefined : rows.map(({ developer_id }) => developer_id);
}

/** Matching developers, newest first; ids sort by time of creation. */
export async function listDevelopers(
  db: Knex,
  { beginning, planId, suspended }: DeveloperCondition,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<ListedDeveloperRow[]> {
  const query = db<DeveloperRow & AccountRow>('developers')
    .orderBy('developer_id', 'desc')
    .limit(page.limit)
    .select(...COLUMNS);
  if (page.before !== undefined) void query.where('developer_id', '<', page.before);
  if (planId !== undefined) void query.where({ plan_id: planId });
  if (suspended !== undefined) void query[suspended ? 'whereNotNull' : 'whereNull']('suspended_at');
  if (beginning !== undefined) {
    const found = await findByBeginning(db, beginning);
    const range = [beginning, beginning + LAST];
    if (found) void query.whereRaw('developer_id = any (?::text[])', [found]);
    else void query.whereRaw(`(${WITH_EMAIL} or ${WITH_NAME})`, [...range, ...range]);
  }
  return query;
}

export async function findListedDeveloper(
  db: Knex,
  developerId: string,
): Promise<ListedDeveloperRow | undefined> {
  return db<DeveloperRow & AccountRow>('developers')
    .where({ developer_id: developerId })
    .first(...COLUMNS);
}

/** How many rows there are, counted up to a limit. */
export async function countRows(db: Knex): Promise<BoundedCount> {
  const { rows } = await db.raw<{ rows: BoundedCount[] }>(
    `select (select count(*) from (select from developers limit ?) as few)::int as counted,
       (select reltuples from pg_class where oid = 'developers'::regclass)::float8 as estimate`,
    [COUNTED_AT_MOST + 1],
  );
  return rows[0]!;
}
