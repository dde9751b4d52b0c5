import type { Handler } from '../handler.ts';

export const deleteSecurityEventReceiver: Handler<'deleteSecurityEventReceiver'> = async (
  { path, actor },
  { securityEvents },
) => {
  await securityEvents.deleteReceiver(actor, path.receiver_id);
  return { status: 200, body: { status: 'success', message: 'Receiver deleted.' } };
};
