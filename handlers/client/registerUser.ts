import type { Handler } from '../handler.ts';
import { register } from './registration.ts';

export const registerUser: Handler<'registerUser'> = async (request, services) => {
  const { app_id, secret } = request.body;
  return register(await services.applications.authenticate(app_id, secret), request, services);
};
