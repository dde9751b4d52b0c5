import type { Handler } from '../handler.ts';
import { toDeviceSession } from './device-session.ts';

export const refreshSession: Handler<'refreshSession'> = async ({ body, client, trust }, { renewals }) => {
  const { app_id: appId, token, version } = body;
  const session = await renewals.renew({ appId, token, version }, client, trust);
  return toDeviceSession(session, trust);
};
