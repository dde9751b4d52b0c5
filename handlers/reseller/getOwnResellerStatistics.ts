import type { Handler } from '../handler.ts';
import { toSales } from '../resellers/sales.ts';

export const getOwnResellerStatistics: Handler<'getOwnResellerStatistics'> = async (
  { query, resellerId },
  { resellerAccount },
) => ({ status: 200, body: toSales(await resellerAccount.sales(resellerId, query)) });
