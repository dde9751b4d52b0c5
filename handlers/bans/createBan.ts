import type { Handler } from '../handler.ts';
import { toBan } from './ban.ts';

export const createBan: Handler<'createBan'> = async ({ path, body, actor }, { moderation }) => {
  const ban = await moderation.ban(actor, path.app_id, {
    kind: body.kind,
    username: body.username,
    hwid: body.hwid,
    network: body.network,
    reason: body.reason ?? null,
    expiresAt: body.expires_at ? new Date(body.expires_at) : null,
  });
  return { status: 201, body: { status: 'success', ...toBan(ban) } };
};
