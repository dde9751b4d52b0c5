import type { Handler } from '../handler.ts';
import { toPrice } from './reseller.ts';

export const listResellerPrices: Handler<'listResellerPrices'> = async ({ path, actor }, { resellers }) => {
  const prices = await resellers.listPrices(actor.developerId, path.reseller_id);
  return { status: 200, body: { status: 'success', data: prices.map(toPrice) } };
};
