import type { Handler } from '../handler.ts';
import { toResult, toSelection } from './selection.ts';

export const banUsers: Handler<'banUsers'> = async ({ path, body, actor }, { moderation }) => {
  const outcome = await moderation.banUsers(actor, path.app_id, toSelection(body), {
    reason: body.reason ?? null,
    expiresAt: body.expires_at ? new Date(body.expires_at) : null,
  });
  return { status: 200, body: toResult(outcome, body) };
};
