import type { Handler } from '../handler.ts';
import { toHandshake } from './handshake.ts';

export const initApplicationV2: Handler<'initApplicationV2'> = async (
  { body, client, trust },
  { applications },
) => {
  const application = await applications.usable(body.app_id, trust);
  const program = { version: body.version, executableHash: body.executable_hash };
  return toHandshake(applications.init(application, program, client));
};
