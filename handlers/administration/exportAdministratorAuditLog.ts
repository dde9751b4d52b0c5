import { attachment } from '../attachment.ts';
import { toAuditFilter } from '../audit/audit-log.ts';
import type { Handler } from '../handler.ts';

export const exportAdministratorAuditLog: Handler<'exportAdministratorAuditLog'> = async (
  { query, actor },
  { audit },
) => attachment(200, 'audit-log.csv', audit.export(actor.developerId, toAuditFilter(query), 'text/csv'));
