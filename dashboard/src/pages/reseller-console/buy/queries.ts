import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../../api/client.ts';
import { ownResellerQuery } from '../../../shell/queries.ts';
import { type Price, useResellerChanged } from '../queries.ts';

export type Purchase = Schemas['CreateResellerLicensesResult'];

interface Wish {
  /** The price that is shown. */
  readonly price: Price;
  readonly amount: number;
  readonly note: string;
}

const isSameKey = (one: Price, other: Price) =>
  one.app_id === other.app_id && one.tier === other.tier && one.duration_days === other.duration_days;

/** What is shown is out of date, so nothing was sent. */
export type Outdated = 'changed' | 'removed';

/** Reads the prices again before keys are bought, in case that the developer has changed the one that is shown. */
export function usePurchase() {
  const client = useQueryClient();
  const changed = useResellerChanged();
  return useMutation({
    mutationFn: async ({ price, amount, note }: Wish): Promise<Purchase | Outdated> => {
      const { prices } = await client.fetchQuery({ ...ownResellerQuery, staleTime: 0 });
      const current = prices.find((each) => isSameKey(each, price));
      if (current?.cost !== price.cost) return current ? 'changed' : 'removed';
      const { app_id, tier, duration_days: days } = price;
      const duration = days === null ? { lifetime: true } : { duration_days: days };
      const body = { app_id, tier, amount, ...duration, ...(note && { note }) };
      return call('POST /api/v2/dev/reseller/licenses', { body, once: true });
    },
    onSuccess: (bought) => void (typeof bought === 'object' && changed()),
  });
}
