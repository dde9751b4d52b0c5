import type { Handler } from '../handler.ts';

export const logoutUserV2: Handler<'logoutUserV2'> = async ({ body, signer }, { sessions, signatures }) => {
  const { app_id, session_token, token = session_token, nonce } = body;
  if (signer && nonce !== undefined) await signatures.spend(signer, nonce);
  await sessions.logout(app_id, token!, { unsigned: !signer });
  const result = { status: 'success', message: 'Session ended.' } as const;
  if (nonce === undefined) return { status: 200, body: result };
  const { sign } = signer ?? (await signatures.signerOf(app_id));
  return { status: 200, body: sign(result, nonce) };
};
