import type { Handler } from '../handler.ts';
import { toSignedSession } from './signed-session.ts';

export const loginUserV2: Handler<'loginUserV2'> = async (
  { body, client, signer },
  { logins, signatures },
) => {
  await signatures.spend(signer, body.nonce);
  const { session } = await logins.withPassword(signer.application, body, 'encrypted', client);
  return { status: 200, body: toSignedSession(session, signer, body.nonce) };
};
