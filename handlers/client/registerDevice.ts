import type { Handler } from '../handler.ts';

export const registerDevice: Handler<'registerDevice'> = async ({ body, client, trust }, { devices }) => {
  const { app_id: appId, hwid, alg, jwk } = body;
  const deviceId = await devices.register({ appId, hwid, alg, jwk }, trust, client);
  return { status: 201, body: { status: 'success', device_id: deviceId } };
};
