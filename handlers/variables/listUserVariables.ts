import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toUserVariable } from './variable.ts';

export const listUserVariables: Handler<'listUserVariables'> = async (
  { path, query, actor },
  { variables },
) => {
  const { developerId } = actor;
  const request = { limit: query.limit, cursor: query.cursor };
  const page = await variables.listOfUser(developerId, path.app_id, path.user_id, request);
  return toPage(page, toUserVariable);
};
