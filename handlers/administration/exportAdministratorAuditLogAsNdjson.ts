import { attachment } from '../attachment.ts';
import { toAuditFilter } from '../audit/audit-log.ts';
import type { Handler } from '../handler.ts';

export const exportAdministratorAuditLogAsNdjson: Handler<'exportAdministratorAuditLogAsNdjson'> = async (
  { query, actor },
  { audit },
) =>
  attachment(
    200,
    'audit-log.ndjson',
    audit.export(actor.developerId, toAuditFilter(query), 'application/x-ndjson'),
  );
