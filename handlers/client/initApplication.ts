import type { Handler } from '../handler.ts';
import { toHandshake } from './handshake.ts';

export const initApplication: Handler<'initApplication'> = async ({ body, client }, { applications }) => {
  const application = await applications.authenticate(body.app_id, body.secret);
  const program = { version: body.version, executableHash: body.executable_hash };
  return toHandshake(applications.init(application, program, client));
};
