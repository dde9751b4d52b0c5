import type { Handler } from '../handler.ts';
import { toRedemption } from './redemption.ts';

export const activateLicenseV2: Handler<'activateLicenseV2'> = async (
  { body, client, trust },
  { applications, users },
) => {
  const application = await applications.secretless(body.app_id, trust);
  return toRedemption(await users.activate(application, body.username, body.license_key, client));
};
