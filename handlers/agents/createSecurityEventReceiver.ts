import type { Handler } from '../handler.ts';
import { toReceiver } from './security-event-receiver.ts';

export const createSecurityEventReceiver: Handler<'createSecurityEventReceiver'> = async (
  { body, actor },
  { securityEvents },
) => {
  const { url, audience, authorization } = body;
  const receiver = await securityEvents.createReceiver(actor, { url, audience, authorization });
  return { status: 201, body: { status: 'success', ...toReceiver(receiver) } };
};
