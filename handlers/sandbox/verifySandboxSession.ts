import type { Handler } from '../handler.ts';
import { toEntitlements } from './entitlements.ts';

export const verifySandboxSession: Handler<'verifySandboxSession'> = async ({ body }, { sandbox }) => {
  const session = await sandbox.verify(body.app_id, body.token, body.hwid);
  return {
    status: 200,
    body: {
      status: 'success',
      sandbox: true,
      valid: true,
      user_id: 'sandbox',
      username: session.username,
      expiry: session.expiresAt.toISOString(),
      entitlements: toEntitlements(session),
    },
  };
};
