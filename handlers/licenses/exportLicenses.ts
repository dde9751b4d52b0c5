import { attachment } from '../attachment.ts';
import type { Handler } from '../handler.ts';
import { toFilter } from './license.ts';

export const exportLicenses: Handler<'exportLicenses'> = async ({ path, query, actor }, { licenses }) => {
  const parts = await licenses.export(actor.developerId, path.app_id, toFilter(query));
  return attachment(200, 'licenses.csv', licenses.exportToCsv(parts));
};
