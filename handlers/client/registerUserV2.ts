import type { Handler } from '../handler.ts';
import { register } from './registration.ts';

export const registerUserV2: Handler<'registerUserV2'> = async (request, services) => {
  const { body, trust } = request;
  const application = await services.applications.secretless(body.app_id, trust);
  services.devices.assertMachine(body.app_id, body.hwid, trust);
  return register(application, request, services);
};
