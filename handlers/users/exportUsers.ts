import type { Handler } from '../handler.ts';
import { toFilter } from './user.ts';

export const exportUsers: Handler<'exportUsers'> = async (
  { path, query, mediaType, actor },
  { userDirectory },
) => {
  const filter = toFilter(query);
  const stream = await userDirectory.export(actor.developerId, path.app_id, filter, mediaType);
  const extension = mediaType === 'text/csv' ? 'csv' : 'ndjson';
  const headers = { 'Content-Disposition': `attachment; filename="users.${extension}"` };
  return { status: 200, mediaType, stream, headers };
};
