import type { Handler } from '../handler.ts';

export const receivePaymentNotice: Handler<'receivePaymentNotice'> = async (
  { rawBody, allHeaders, client },
  { settlement },
) => ({
  status: 200,
  body: { status: 'success', message: await settlement.receive(rawBody, allHeaders, client) },
});
