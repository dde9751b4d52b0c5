import type { Handler } from '../handler.ts';
import { toVerification } from './verification.ts';

export const verifySessionV2: Handler<'verifySessionV2'> = async (
  { body, client, signer },
  { sessions, signatures },
) => {
  const { app_id, token, hwid, nonce } = body;
  await signatures.spend(signer, nonce);
  const verification = await sessions.verify(app_id, token, { hwid, client, unsigned: !signer });
  const result = toVerification(verification);
  if (nonce === undefined) return { status: 200, body: result };
  const { sign } = signer ?? (await signatures.signerOf(app_id));
  return { status: 200, body: sign(result, nonce) };
};
