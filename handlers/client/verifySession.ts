import type { Handler } from '../handler.ts';
import { toVerification } from './verification.ts';

export const verifySession: Handler<'verifySession'> = async ({ body, client, trust }, { sessions }) => {
  const verification = await sessions.verify(body.app_id, body.token, {
    hwid: body.hwid,
    client,
    signed: false,
    trust,
  });
  return { status: 200, body: toVerification(verification) };
};
