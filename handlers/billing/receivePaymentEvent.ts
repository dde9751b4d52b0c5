import type { Handler } from '../handler.ts';

export const receivePaymentEvent: Handler<'receivePaymentEvent'> = async (
  { rawBody, allHeaders, client },
  { settlement },
) => ({
  status: 200,
  body: { status: 'success', message: await settlement.receive(rawBody, allHeaders, client) },
});
