import { attachment } from '../attachment.ts';
import type { Handler } from '../handler.ts';
import { toFilter } from './user.ts';

export const exportUsersAsNdjson: Handler<'exportUsersAsNdjson'> = async (
  { path, query, actor },
  { userDirectory },
) => {
  const filter = toFilter(query);
  const stream = await userDirectory.export(actor.developerId, path.app_id, filter, 'application/x-ndjson');
  return attachment(200, 'users.ndjson', stream);
};
