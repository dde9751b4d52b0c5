import type { Handler } from '../handler.ts';
import { toApplication } from './application.ts';

export const listApplications: Handler<'listApplications'> = async ({ query, actor }, { applications }) => {
  const page = await applications.list(actor.developerId, { limit: query.limit, cursor: query.cursor });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toApplication), next_cursor: page.nextCursor },
  };
};
