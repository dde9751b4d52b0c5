import type { Handler } from '../handler.ts';
import { toLines } from './license.ts';

export const exportLicenses: Handler<'exportLicenses'> = async (
  { path, query, actor, mediaType },
  { licenses },
) => {
  const { status, tier, reseller_id: resellerId, q } = query;
  const parts = await licenses.export(actor.developerId, path.app_id, { status, tier, resellerId, q });
  const csv = mediaType === 'text/csv';
  return { status: 200, mediaType, stream: csv ? licenses.exportToCsv(parts) : toLines(parts) };
};
