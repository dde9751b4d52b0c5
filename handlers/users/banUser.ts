import type { Handler } from '../handler.ts';
import { toBan } from '../bans/ban.ts';

export const banUser: Handler<'banUser'> = async ({ path, body, actor }, { moderation }) => {
  const ban = await moderation.banUser(actor, path.app_id, path.user_id, {
    reason: body.reason ?? null,
    expiresAt: body.expires_at ? new Date(body.expires_at) : null,
  });
  return { status: 200, body: { status: 'success', ...toBan(ban) } };
};
