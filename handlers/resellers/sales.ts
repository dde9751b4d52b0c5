import type { components } from '../../generated/types.ts';
import type { Sales } from '../../src/commerce/resellers/resellers.ts';

/** The sales of a reseller as the contract shows them. */
export function toSales(sales: Sales): components['schemas']['ResellerStatisticsResult'] {
  const { resellerId, currency, days, totals, series } = sales;
  return {
    status: 'success',
    reseller_id: resellerId,
    currency,
    from: days[0]!,
    to: days.at(-1)!,
    days: [...days],
    totals: {
      keys_sold: totals.keysSold,
      charged: totals.charged,
      keys_refunded: totals.keysRefunded,
      refunded: totals.refunded,
    },
    series: {
      keys_sold: [...series.keysSold],
      charged: [...series.charged],
      keys_refunded: [...series.keysRefunded],
      refunded: [...series.refunded],
    },
  };
}
