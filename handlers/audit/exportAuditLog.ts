import { attachment } from '../attachment.ts';
import { toAuditFilter } from './audit-log.ts';
import type { Handler } from '../handler.ts';

export const exportAuditLog: Handler<'exportAuditLog'> = async ({ query, actor }, { audit }) =>
  attachment(200, 'audit-log.csv', audit.export(actor.developerId, toAuditFilter(query), 'text/csv'));
