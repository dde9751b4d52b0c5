import type { Handler } from '../handler.ts';
import { toPrice, toReseller } from '../resellers/reseller.ts';

export const getOwnReseller: Handler<'getOwnReseller'> = async ({ resellerId }, { resellerAccount }) => {
  const { reseller, prices } = await resellerAccount.get(resellerId);
  return { status: 200, body: { status: 'success', ...toReseller(reseller), prices: prices.map(toPrice) } };
};
