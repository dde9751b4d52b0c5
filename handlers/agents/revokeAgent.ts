import { text } from 'node:stream/consumers';
import type { Handler } from '../handler.ts';

export const revokeAgent: Handler<'revokeAgent'> = async (
  { body, upload, uploadType, client },
  { agents },
) => {
  if (uploadType === 'application/secevent+jwt') {
    await agents.receiveSecurityEvent(await text(upload), 'secevent', client);
    return { status: 202 };
  }
  if (uploadType === 'application/logout+jwt') {
    await agents.receiveSecurityEvent(await text(upload), 'logout', client);
    return { status: 200, body: { status: 'success', message: 'The agents are revoked.' } };
  }
  await agents.revokeCredential(body?.credential, client);
  return { status: 200, body: { status: 'success', message: 'The credential is revoked.' } };
};
