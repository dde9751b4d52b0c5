import { attachment } from '../attachment.ts';
import type { Handler } from '../handler.ts';
import { toFilter } from './user.ts';

export const exportUsers: Handler<'exportUsers'> = async ({ path, query, actor }, { userDirectory }) => {
  const filter = toFilter(query);
  const stream = await userDirectory.export(actor.developerId, path.app_id, filter, 'text/csv');
  return attachment(200, 'users.csv', stream);
};
