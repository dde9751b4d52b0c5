import type { Handler } from '../handler.ts';

export const removeSigningKey: Handler<'removeSigningKey'> = async ({ path, actor }, { signingKeys }) => {
  await signingKeys.remove(actor, path.key_id);
  return { status: 200, body: { status: 'success', message: 'Signing key removed.' } };
};
