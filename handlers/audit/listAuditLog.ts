import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';

export const listAuditLog: Handler<'listAuditLog'> = async ({ query, actor }, { audit }) => {
  const { limit, cursor, app_id, actor_id, action, target, address, since, until } = query;
  const filter = {
    appId: app_id,
    actorId: actor_id,
    action,
    target,
    address,
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : new Date(until),
  };
  const page = await audit.list(actor.developerId, filter, { limit, cursor });
  return toPage(page, (entry) => ({
    audit_id: entry.auditId,
    app_id: entry.appId,
    actor: { kind: entry.actorKind, id: entry.actorId, address: entry.address },
    action: entry.action,
    target: entry.target,
    data: { ...entry.data },
    created_at: entry.createdAt.toISOString(),
  }));
};
