import type { Handler } from '../handler.ts';
import { toSessionResult } from './session-result.ts';
import { signedResult } from './signed-result.ts';

export const loginWithLicense: Handler<'loginWithLicense'> = async (
  { body, client, signer: signed, signable, trust },
  { logins, signatures },
) => {
  const signer = signed ?? (await signatures.signerOf(body.app_id, signable, trust));
  await signatures.spend(signed, body.nonce);
  const credentials = { licenseKey: body.license_key, hwid: body.hwid, version: body.version };
  const { session } = await logins.withLicense(signer.application, credentials, 'encrypted', client, trust);
  return signedResult(signer, toSessionResult(session), body.nonce ?? '');
};
