import type { Handler } from '../handler.ts';
import { toDeviceSession } from './device-session.ts';

export const loginWithPassword: Handler<'loginWithPassword'> = async (
  { body, client, trust },
  { applications, logins },
) => {
  const application = await applications.secretless(body.app_id, trust);
  const { session } = await logins.withPassword(application, body, 'encrypted', client, trust);
  return toDeviceSession(session, trust);
};
