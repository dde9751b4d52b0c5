import type { Handler } from '../handler.ts';
import { toEntitlements } from './entitlements.ts';

export const authenticateSandbox: Handler<'authenticateSandbox'> = async (
  { body },
  { sandbox, addresses },
) => {
  const { app_id: appId, username, hwid } = body;
  const session = await sandbox.authenticate({ appId, username, hwid });
  return {
    status: 200,
    body: {
      status: 'success',
      sandbox: true,
      token: session.token,
      expires_at: session.expiresAt.toISOString(),
      entitlements: toEntitlements(session),
      scopes: [...session.scopes],
      claim_url: addresses.agentClaim(),
      post_claim_scopes: [...session.postClaimScopes],
    },
  };
};
