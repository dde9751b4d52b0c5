import type { Handler } from '../handler.ts';
import { toApplication } from './application.ts';
import { toSigningKey } from './signing-key.ts';

export const createApplication: Handler<'createApplication'> = async ({ body, actor }, { applications }) => {
  const { application, secret, keys } = await applications.create(actor, body.name);
  const signing_keys = keys.map(toSigningKey);
  return { status: 201, body: { status: 'success', ...toApplication(application), secret, signing_keys } };
};
