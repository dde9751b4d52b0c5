import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { DASHBOARD } from '../../api/base.ts';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';
import { Problem } from '../../api/problem.ts';
import { developerQuery } from '../../shell/queries.ts';
import { RESELLERS_KEY } from '../resellers/queries.ts';

export type Plan = Schemas['Plan'];
export type Subscription = Schemas['PlanSubscriptionResult'];
export type Checkout = Schemas['CheckoutResult'];
export type Invoice = Schemas['Invoice'];
export type Developer = Schemas['DeveloperResult'];

/** In the address instead of an id: the payment page returns before the page could know the id. */
export const NEWEST_CHECKOUT = 'newest';

const KEY = ['plan'];
const LOOK_AGAIN_MS = 2_000;

export const plansQuery = queryOptions({
  queryKey: [...KEY, 'plans'],
  queryFn: ({ signal }) => call('GET /api/v1/client/plans', { signal }),
});

/** What the developer pays for; null without a subscription. */
export const subscriptionQuery = queryOptions({
  queryKey: [...KEY, 'subscription'],
  queryFn: async ({ signal }) => {
    try {
      return await call('GET /api/v2/dev/subscription', { signal });
    } catch (error) {
      if (error instanceof Problem && error.code === 'SUBSCRIPTION_NOT_FOUND') return null;
      throw error;
    }
  },
});

/** A checkout, again and again until nothing can change anymore; null if it does not exist. */
export const checkoutQuery = (checkoutId: string) =>
  queryOptions({
    queryKey: [...KEY, 'checkout', checkoutId],
    queryFn: async ({ signal }) => {
      const id = checkoutId === NEWEST_CHECKOUT ? await newestCheckout(signal) : checkoutId;
      return id === undefined
        ? null
        : call('GET /api/v2/dev/checkouts/{checkout_id}', { path: { checkout_id: id }, signal });
    },
    refetchInterval: ({ state }) =>
      state.data?.state === 'open' || state.data?.state === 'processing' ? LOOK_AGAIN_MS : false,
  });

/** The audit log knows which checkout was opened last. */
async function newestCheckout(signal: AbortSignal): Promise<string | undefined> {
  const query = { action: 'checkout.created', limit: 1 };
  const { data } = await call('GET /api/v2/dev/audit-log', { query, signal });
  return data[0]?.target ?? undefined;
}

export const useInvoices = () =>
  useCursorList([...KEY, 'invoices'], (cursor, signal) =>
    call('GET /api/v2/dev/invoices', { query: { limit: PAGE_SIZE, ...(cursor && { cursor }) }, signal }),
  );

/** Opens a payment page that returns here, and leaves for it. */
export async function payFor(planId: string, resellerId?: string): Promise<void> {
  const back = `${location.origin}${DASHBOARD}/plan?checkout=${NEWEST_CHECKOUT}`;
  const { url } = await call('POST /api/v1/checkout', {
    body: {
      plan_name: planId,
      success_url: back,
      cancel_url: back,
      ...(resellerId && { reseller_id: resellerId }),
    },
    once: true,
  });
  location.assign(url);
}

export const updateSubscription = (body: Schemas['UpdateSubscriptionRequest']) =>
  call('PATCH /api/v2/dev/subscription', { body });

/** Reads again what a payment changes. */
export function usePlanChanged(): () => Promise<unknown> {
  const client = useQueryClient();
  return () =>
    Promise.all(
      [KEY, developerQuery.queryKey, RESELLERS_KEY].map((queryKey) => client.invalidateQueries({ queryKey })),
    );
}
