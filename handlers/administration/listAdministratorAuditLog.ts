import { toAuditEntry, toAuditFilter } from '../audit/audit-log.ts';
import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';

export const listAdministratorAuditLog: Handler<'listAdministratorAuditLog'> = async (
  { query, actor },
  { audit },
) => {
  const { limit, cursor, ...wanted } = query;
  const page = await audit.list(actor.developerId, toAuditFilter(wanted), { limit, cursor });
  return toPage(page, toAuditEntry);
};
