import type { Handler } from '../handler.ts';
import { toResult, toSelection } from './selection.ts';

export const deleteUsers: Handler<'deleteUsers'> = async ({ path, body, actor }, { userManagement }) => {
  const outcome = await userManagement.deleteMany(actor, path.app_id, toSelection(body));
  return { status: 200, body: toResult(outcome, body) };
};
