import type { Handler } from '../handler.ts';
import { toResult, toSelection } from './selection.ts';

export const unbanUsers: Handler<'unbanUsers'> = async ({ path, body, actor }, { moderation }) => {
  const outcome = await moderation.unbanUsers(actor, path.app_id, toSelection(body));
  return { status: 200, body: toResult(outcome, body) };
};
