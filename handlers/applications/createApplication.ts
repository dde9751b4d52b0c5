import type { Handler } from '../handler.ts';
import { toApplication } from './application.ts';

export const createApplication: Handler<'createApplication'> = async ({ body, actor }, { applications }) => {
  const { application, secret } = await applications.create(actor, body.name);
  return { status: 201, body: { status: 'success', ...toApplication(application), secret } };
};
