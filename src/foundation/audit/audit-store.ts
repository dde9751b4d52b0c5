import type { Knex } from 'knex';
import { idRange } from '../../platform/ids.ts';

export interface AuditRow {
  readonly audit_id: string;
  readonly developer_id: string;
  readonly app_id: string | null;
  readonly actor_kind:
    'developer' | 'api_token' | 'oauth_client' | 'agent' | 'reseller' | 'service' | 'administrator';
  readonly actor_id: string;
  readonly address: string;
  readonly action: string;
  readonly target: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
}

export async function insertEntry(trx: Knex.Transaction, row: AuditRow): Promise<void> {
  await trx('audit_log').insert({ ...row, data: JSON.stringify(row.data) });
}

/** Which entries to find; members that are left out match every entry. */
export interface AuditFilter {
  readonly appId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** In canonical form. */
  readonly address?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/**
 * Newest first, because ids sort by time of creation. With any filter, one index provides the rows in this
 * order.
 */
export function listEntries(
  db: Knex,
  developerId: string,
  filter: AuditFilter,
  page: { readonly before: string | undefined; readonly limit: number },
): Knex.QueryBuilder<AuditRow, AuditRow[]> {
  const { appId, actorId, action, target, address, since, until } = filter;
  const query = db<AuditRow>('audit_log')
    .where({ developer_id: developerId })
    .orderBy('audit_id', 'desc')
    .limit(page.limit);
  if (appId !== undefined) void query.where({ app_id: appId });
  if (actorId !== undefined) void query.where({ actor_id: actorId });
  if (action !== undefined) void query.where({ action });
  if (target !== undefined) void query.where({ target });
  if (address !== undefined) void query.where({ address });
  const { from, below } = idRange('aud', { since, until });
  if (from !== undefined) void query.where('audit_id', '>=', from);
  if (below !== undefined) void query.where('audit_id', '<', below);
  if (since !== undefined) void query.where('created_at', '>=', since);
  if (until !== undefined) void query.where('created_at', '<', until);
  if (page.before !== undefined) void query.where('audit_id', '<', page.before);
  return query;
}
