import type { Handler } from '../handler.ts';
import { toSigningKey } from './signing-key.ts';

export const rotateSigningKeys: Handler<'rotateSigningKeys'> = async ({ actor }, { signingKeys }) => {
  const keys = await signingKeys.rotate(actor);
  return { status: 201, body: { status: 'success', data: keys.map(toSigningKey) } };
};
