import type { Handler } from '../handler.ts';

export const refundResellerLicense: Handler<'refundResellerLicense'> = async (
  { path, actor, resellerId },
  { resellerAccount },
) => {
  const refund = await resellerAccount.refund(actor, resellerId, path.license_id);
  return {
    status: 200,
    body: {
      status: 'success',
      message: 'License refunded.',
      amount: refund.amount,
      balance: refund.balance,
      currency: refund.currency,
      entry_id: refund.entryId,
    },
  };
};
