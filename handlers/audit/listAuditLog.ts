import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toAuditEntry, toAuditFilter } from './audit-log.ts';

export const listAuditLog: Handler<'listAuditLog'> = async ({ query, actor }, { audit }) => {
  const { limit, cursor, ...wanted } = query;
  const page = await audit.list(actor.developerId, toAuditFilter(wanted), { limit, cursor });
  return toPage(page, toAuditEntry);
};
