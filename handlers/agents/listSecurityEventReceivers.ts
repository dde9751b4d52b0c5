import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toReceiver } from './security-event-receiver.ts';

export const listSecurityEventReceivers: Handler<'listSecurityEventReceivers'> = async (
  { query, actor },
  { securityEvents },
) => {
  const page = { limit: query.limit, cursor: query.cursor };
  return toPage(await securityEvents.listReceivers(actor.developerId, page), toReceiver);
};
