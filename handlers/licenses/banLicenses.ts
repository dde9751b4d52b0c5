import type { Handler } from '../handler.ts';
import { toResult, toSelection } from './selection.ts';

export const banLicenses: Handler<'banLicenses'> = async ({ path, body, actor }, { moderation }) => {
  const { bannedUsers, ...outcome } = await moderation.banLicenses(actor, path.app_id, toSelection(body), {
    reason: body.reason ?? null,
    banUsers: body.ban_users ?? false,
  });
  return { status: 200, body: { ...toResult(outcome, body), banned_users: bannedUsers } };
};
