import type { Handler } from '../handler.ts';
import { toRedemption } from './redemption.ts';

export const activateLicense: Handler<'activateLicense'> = async (
  { body, client },
  { applications, users },
) => {
  const application = await applications.authenticate(body.app_id, body.secret);
  return toRedemption(await users.activate(application, body.username, body.license_key, client));
};
