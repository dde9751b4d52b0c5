import type { RevenueTotal } from '../../src/commerce/billing/billing.ts';
import type { Handler } from '../handler.ts';

export const getRevenue: Handler<'getRevenue'> = async ({ query }, { revenue }) => {
  const { interval = 'day', from: first, to: last } = query;
  const { from, to, items, totals } = await revenue.report({ interval, from: first, to: last });
  const data = items.map((item) => ({ start: item.start, ...toTotal(item) }));
  return { status: 200, body: { status: 'success', interval, from, to, data, totals: totals.map(toTotal) } };
};

function toTotal({ currency, invoices, amount, refunded, disputed, net }: RevenueTotal) {
  return { currency, invoices, amount, refunded, disputed, net };
}
