import type { Handler } from '../handler.ts';
import { toSigningKey } from './signing-key.ts';

export const listSigningKeys: Handler<'listSigningKeys'> = async (_request, { signingKeys }) => ({
  status: 200,
  body: { status: 'success', data: signingKeys.published().map(toSigningKey) },
});
