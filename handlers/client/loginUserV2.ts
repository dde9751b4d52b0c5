import type { Handler } from '../handler.ts';
import { toSessionResult } from './session-result.ts';
import { signedResult } from './signed-result.ts';

export const loginUserV2: Handler<'loginUserV2'> = async (
  { body, client, signer, trust },
  { logins, signatures },
) => {
  await signatures.spend(signer, body.nonce);
  const { session } = await logins.withPassword(signer.application, body, 'encrypted', client, trust);
  return signedResult(signer, toSessionResult(session), body.nonce);
};
