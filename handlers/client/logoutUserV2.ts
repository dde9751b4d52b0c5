import type { Handler } from '../handler.ts';
import { signedResult } from './signed-result.ts';

export const logoutUserV2: Handler<'logoutUserV2'> = async (
  { body, signer: signed, signable, trust },
  { sessions, signatures },
) => {
  const { app_id, session_token, token = session_token, nonce } = body;
  await signatures.spend(signed, nonce);
  // Before the session ends: a failure must leave it alive.
  const signer =
    nonce === undefined ? undefined : (signed ?? (await signatures.signerOf(app_id, signable, trust)));
  await sessions.logout(app_id, token!, { signed: signed !== undefined, trust });
  const result = { status: 'success', message: 'Session ended.' } as const;
  if (!signer || nonce === undefined) return { status: 200, body: result };
  return signedResult(signer, result, nonce);
};
