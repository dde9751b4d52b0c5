import type { Handler } from '../handler.ts';

export const resetHwid: Handler<'resetHwid'> = async (
  { body, client, signer: signed },
  { hwidResets, signatures },
) => {
  const signer = signed ?? (await signatures.signerOf(body.app_id));
  await signatures.spend(signed, body.nonce);
  const { nextResetAt } = await hwidResets.byUser(signer.application, body, client);
  const result = {
    status: 'success',
    message: 'Hardware reset.',
    next_reset_at: nextResetAt.toISOString(),
  } as const;
  return { status: 200, body: body.nonce === undefined ? result : signer.sign(result, body.nonce) };
};
