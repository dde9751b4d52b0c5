import type { AuditEntry, AuditFilter } from '../../src/foundation/audit/audit.ts';

interface AuditQuery {
  readonly app_id?: string | undefined;
  readonly actor_id?: string | undefined;
  readonly actor_kind?: AuditFilter['actorKind'];
  readonly action?: string | undefined;
  readonly action_prefix?: string | undefined;
  readonly target?: string | undefined;
  readonly address?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** The filter of a request. */
export function toAuditFilter(query: AuditQuery): AuditFilter {
  const { app_id, actor_id, actor_kind, action, action_prefix, target, address, since, until } = query;
  return {
    appId: app_id,
    actorId: actor_id,
    actorKind: actor_kind,
    action,
    actionPrefix: action_prefix,
    target,
    address,
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : new Date(until),
  };
}

/** An entry as the contract shows it. */
export function toAuditEntry(entry: AuditEntry) {
  return {
    audit_id: entry.auditId,
    app_id: entry.appId,
    actor: { kind: entry.actorKind, id: entry.actorId, address: entry.address },
    action: entry.action,
    target: entry.target,
    data: { ...entry.data },
    created_at: entry.createdAt.toISOString(),
  };
}
