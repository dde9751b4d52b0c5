import type { Handler } from '../handler.ts';
import { toSales } from './sales.ts';

export const getResellerStatistics: Handler<'getResellerStatistics'> = async (
  { path, query, actor },
  { resellers },
) => {
  const sales = await resellers.sales(actor.developerId, path.reseller_id, query);
  return { status: 200, body: toSales(sales) };
};
