import type { AuditRow } from './audit-store.ts';

/** What an actor did, as it was recorded. */
export interface AuditEntry {
  readonly auditId: string;
  readonly appId: string | null;
  readonly actorKind: AuditRow['actor_kind'];
  readonly actorId: string;
  readonly address: string;
  readonly action: string;
  readonly target: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

export function toEntry(row: AuditRow): AuditEntry {
  return {
    auditId: row.audit_id,
    appId: row.app_id,
    actorKind: row.actor_kind,
    actorId: row.actor_id,
    address: row.address,
    action: row.action,
    target: row.target,
    data: row.data,
    createdAt: row.created_at,
  };
}
