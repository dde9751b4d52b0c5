import type { Handler } from '../handler.ts';

export const createCheckout: Handler<'createCheckout'> = async ({ body, actor }, { checkouts }) => {
  const { url, checkoutId } = await checkouts.create(actor, {
    planName: body.plan_name,
    period: body.period,
    resellerId: body.reseller_id,
    successUrl: body.success_url,
    cancelUrl: body.cancel_url,
  });
  return { status: 200, body: { status: 'success', url, sessionId: checkoutId } };
};
