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

export async function insertEntries(trx: Knex.Transaction, rows: readonly AuditRow[]): Promise<void> {
  if (rows.length === 0) return;
  await trx('audit_log').insert(rows.map((row) => ({ ...row, data: JSON.stringify(row.data) })));
}

/** Which entries to find; members that are left out match every entry. */
export interface AuditFilter {
  readonly appId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly actorKind?: AuditRow['actor_kind'] | undefined;
  readonly action?: string | undefined;
  /** The beginning of the action. */
  readonly actionPrefix?: string | undefined;
  readonly target?: string | undefined;
  /** In canonical form. */
  readonly address?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

interface Range {
  readonly before: string | undefined;
  readonly limit: number;
}

/** The upper bound of all actions with a prefix, which are ASCII. */
const LAST = '\u{10FFFF}';

/**
 * Newest first, because ids sort by time of creation. With any filter, one index provides the rows in this
 * order.
 */
export function listEntries(
  db: Knex,
  developerId: string,
  filter: AuditFilter,
  page: Range,
): Knex.QueryBuilder<AuditRow, AuditRow[]> {
  const { appId, actorId, actorKind, action, actionPrefix: prefix, target, address } = filter;
  const query = matchingEntries(db, developerId, filter, page);
  if (prefix === undefined) return query;
  // Any of these matches few entries in comparison.
  if ([appId, actorId, action, target, address].some((value) => value !== undefined))
    return query.where('action', '>=', prefix).where('action', '<', prefix + LAST);
  const ofAction = query.whereRaw('action = actions.name');
  return listByPrefix(db, { developerId, actorKind }, prefix, ofAction, page.limit);
}

/**
 * The newest entries of every action with a prefix. The actions are found one after the other, because one index
 * provides the entries of a single action in the order of the list.
 * @param ofAction finds the newest matching entries of `actions.name`
 */
function listByPrefix(
  db: Knex,
  { developerId, actorKind }: { readonly developerId: string; readonly actorKind: string | undefined },
  prefix: string,
  ofAction: Knex.QueryBuilder,
  limit: number,
): Knex.QueryBuilder<AuditRow, AuditRow[]> {
  const isOwn = `developer_id = :developerId ${actorKind === undefined ? '' : 'and actor_kind = :actorKind'}`;
  const found: unknown = db
    .select('*')
    .fromRaw(
      `(with recursive actions as (
         (select action as name from audit_log
          where ${isOwn} and action >= :prefix and action < :end order by action limit 1)
         union all
         select (select action from audit_log
                 where ${isOwn} and action > actions.name and action < :end
                 order by action limit 1)
         from actions where actions.name is not null
       )
       select found.* from actions cross join lateral (:ofAction) found
       where actions.name is not null) as entries`,
      {
        developerId,
        prefix,
        end: prefix + LAST,
        ofAction,
        ...(actorKind !== undefined && { actorKind }),
      } as Record<string, Knex.RawBinding>,
    )
    .orderBy('audit_id', 'desc')
    .limit(limit);
  return found as Knex.QueryBuilder<AuditRow, AuditRow[]>;
}

/** The newest entries that match everything but the prefix. */
function matchingEntries(
  db: Knex,
  developerId: string,
  filter: AuditFilter,
  page: Range,
): Knex.QueryBuilder<AuditRow, AuditRow[]> {
  const { appId, actorId, actorKind, action, target, address, since, until } = filter;
  const query = db<AuditRow>('audit_log')
    .where({ developer_id: developerId })
    .orderBy('audit_id', 'desc')
    .limit(page.limit);
  if (appId !== undefined) void query.where({ app_id: appId });
  if (actorId !== undefined) void query.where({ actor_id: actorId });
  if (actorKind !== undefined) void query.where({ actor_kind: actorKind });
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

/** When a developer's newest entry of an action was written. */
export async function findNewestOf(db: Knex, developerId: string, action: string): Promise<Date | undefined> {
  const row = await db<AuditRow>('audit_log')
    .where({ developer_id: developerId, action })
    .orderBy('audit_id', 'desc')
    .first('created_at');
  return row?.created_at;
}
