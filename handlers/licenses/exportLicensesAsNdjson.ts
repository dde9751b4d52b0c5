import { attachment } from '../attachment.ts';
import type { Handler } from '../handler.ts';
import { toFilter, toLines } from './license.ts';

export const exportLicensesAsNdjson: Handler<'exportLicensesAsNdjson'> = async (
  { path, query, actor },
  { licenses },
) => {
  const parts = await licenses.export(actor.developerId, path.app_id, toFilter(query));
  return attachment(200, 'licenses.ndjson', toLines(parts));
};
