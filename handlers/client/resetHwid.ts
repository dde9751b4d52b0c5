import type { Handler } from '../handler.ts';
import { signedResult } from './signed-result.ts';

export const resetHwid: Handler<'resetHwid'> = async (
  { body, client, signer: signed, signable, trust },
  { hwidResets, signatures },
) => {
  const signer = signed ?? (await signatures.signerOf(body.app_id, signable, trust));
  await signatures.spend(signed, body.nonce);
  const { nextResetAt } = await hwidResets.byUser(signer.application, body, client);
  const result = {
    status: 'success',
    message: 'Hardware reset.',
    next_reset_at: nextResetAt.toISOString(),
  } as const;
  return body.nonce === undefined ? { status: 200, body: result } : signedResult(signer, result, body.nonce);
};
