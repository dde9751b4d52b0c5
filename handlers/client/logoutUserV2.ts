import type { Handler } from '../handler.ts';

export const logoutUserV2: Handler<'logoutUserV2'> = async ({ body, signer }, { sessions, signatures }) => {
  const { app_id, session_token, token = session_token, nonce } = body;
  await signatures.spend(signer, nonce);
  // Before the session ends, so that it does not end without an answer.
  const answering = nonce === undefined ? undefined : (signer ?? (await signatures.signerOf(app_id)));
  await sessions.logout(app_id, token!, { unsigned: !signer });
  const result = { status: 'success', message: 'Session ended.' } as const;
  return { status: 200, body: answering && nonce !== undefined ? answering.sign(result, nonce) : result };
};
