import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toApplication } from './application.ts';

export const listApplications: Handler<'listApplications'> = async ({ query, actor }, { applications }) => {
  const page = await applications.list(actor.developerId, { limit: query.limit, cursor: query.cursor });
  return toPage(page, toApplication);
};
