import type { Handler } from '../handler.ts';
import { toSignedSession } from './signed-session.ts';

export const loginWithLicense: Handler<'loginWithLicense'> = async (
  { body, client, signer: signed },
  { logins, signatures },
) => {
  const signer = signed ?? (await signatures.signerOf(body.app_id));
  await signatures.spend(signed, body.nonce);
  const credentials = { licenseKey: body.license_key, hwid: body.hwid, version: body.version };
  const { session } = await logins.withLicense(signer.application, credentials, 'encrypted', client);
  return { status: 200, body: toSignedSession(session, signer, body.nonce ?? '') };
};
