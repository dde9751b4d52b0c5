import type { Handler } from '../handler.ts';
import { fromPrice, toPrice } from './reseller.ts';

export const setResellerPrices: Handler<'setResellerPrices'> = async (
  { path, body, actor },
  { resellers },
) => {
  const prices = await resellers.setPrices(actor, path.reseller_id, body.prices.map(fromPrice));
  return { status: 200, body: { status: 'success', data: prices.map(toPrice) } };
};
