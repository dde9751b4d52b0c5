import type { Handler } from '../handler.ts';

export const getCheckout: Handler<'getCheckout'> = async ({ path, actor }, { checkouts }) => {
  const checkout = await checkouts.get(actor.developerId, path.checkout_id);
  return {
    status: 200,
    body: {
      status: 'success',
      checkout_id: checkout.checkoutId,
      plan_id: checkout.planId,
      reseller_id: checkout.resellerId,
      url: checkout.url,
      state: checkout.status,
      amount: checkout.amount,
      currency: checkout.currency,
      created_at: checkout.createdAt.toISOString(),
      expires_at: checkout.expiresAt.toISOString(),
      paid_at: checkout.paidAt?.toISOString() ?? null,
    },
  };
};
