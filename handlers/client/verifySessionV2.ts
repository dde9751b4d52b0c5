import type { Handler } from '../handler.ts';
import { signedResult } from './signed-result.ts';
import { toVerification } from './verification.ts';

export const verifySessionV2: Handler<'verifySessionV2'> = async (
  { body, client, signer, signable, trust },
  { sessions, signatures },
) => {
  const { app_id, token, hwid, nonce } = body;
  await signatures.spend(signer, nonce);
  const signed = signer !== undefined;
  const result = toVerification(await sessions.verify(app_id, token, { hwid, client, signed, trust }));
  if (nonce === undefined) return { status: 200, body: result };
  return signedResult(signer ?? (await signatures.signerOf(app_id, signable, trust)), result, nonce);
};
