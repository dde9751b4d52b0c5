import type { Handler } from '../handler.ts';
import { toLicense } from './license.ts';

export const banLicense: Handler<'banLicense'> = async ({ path, body, actor }, { moderation }) => {
  const { license, ban } = await moderation.banLicense(actor, path.app_id, path.license_id, {
    reason: body.reason ?? null,
    banUser: body.ban_user ?? false,
  });
  return {
    status: 200,
    body: { status: 'success', license: toLicense(license), ban_id: ban?.banId ?? null },
  };
};
