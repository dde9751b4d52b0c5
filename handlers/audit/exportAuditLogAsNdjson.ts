import { attachment } from '../attachment.ts';
import { toAuditFilter } from './audit-log.ts';
import type { Handler } from '../handler.ts';

export const exportAuditLogAsNdjson: Handler<'exportAuditLogAsNdjson'> = async (
  { query, actor },
  { audit },
) =>
  attachment(
    200,
    'audit-log.ndjson',
    audit.export(actor.developerId, toAuditFilter(query), 'application/x-ndjson'),
  );
