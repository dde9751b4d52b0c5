import type { Handler } from '../handler.ts';

export const deleteResellerToken: Handler<'deleteResellerToken'> = async ({ path, actor }, { resellers }) => {
  await resellers.revokeToken(actor, path.reseller_id, path.token_id);
  return { status: 200, body: { status: 'success', message: 'Reseller token revoked.' } };
};
