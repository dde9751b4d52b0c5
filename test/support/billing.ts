import { expect, vi } from 'vitest';
import type { components } from '../../generated/types.ts';
import { createKeyring } from '../../src/platform/keyring.ts';
import type { PaymentFact } from '../../src/platform/payments/index.ts';
import { signedHeaders } from '../../src/platform/payments/test-processor/signature.ts';
import { systemRandom } from '../../src/platform/random.ts';
import type { Api } from './api.ts';
import { unique } from './fixtures.ts';
import { ADMIN_TOKEN, MASTER_KEY, type TestService } from './service.ts';

type Schemas = components['schemas'];
type Plan = Schemas['AdminPlan'];

/** The administrator as a caller. */
export const ADMINISTRATOR = { token: ADMIN_TOKEN };

/** Sells a plan that is like `Pro` by default. */
export async function sellPlan(api: Api, terms: Partial<Schemas['CreatePlanRequest']> = {}): Promise<Plan> {
  const wanted = {
    name: unique('Pro'),
    price: 19,
    period: 'monthly',
    max_apps: 100,
    max_users_per_app: 1000,
    ...terms,
  };
  const { status, body } = await api.post<Plan>('/api/v2/admin/plans', wanted, ADMINISTRATOR);
  if (status !== 201) throw new Error(`POST /api/v2/admin/plans returned ${status} ${JSON.stringify(body)}`);
  return body;
}

/** An open checkout with its content. */
export interface Opened {
  readonly sessionId: string;
  readonly url: string;
  readonly plan: Plan;
}

/** Opens a checkout for a plan. */
export async function openCheckout(
  api: Api,
  { token }: { readonly token: string },
  plan: Plan,
  more: Partial<Schemas['CreateCheckoutRequest']> = {},
): Promise<Opened> {
  const wanted = { plan_name: plan.plan_id, ...more };
  const { status, body } = await api.post<Schemas['CreateCheckoutResult']>('/api/v1/checkout', wanted, {
    token,
  });
  if (status !== 200) throw new Error(`POST /api/v1/checkout returned ${status} ${JSON.stringify(body)}`);
  return { sessionId: body.sessionId, url: body.url, plan };
}

/** Cards of the test processor, by their effect. */
export const CARDS = {
  pays: '4242 4242 4242 4242',
  declined: '4000 0000 0000 0002',
  delayed: '4000 0000 0000 0077',
  delayedFailure: '4000 0000 0000 0085',
  disputed: '4000 0000 0000 0259',
  paysOnce: '4000 0000 0000 0341',
} as const;

/** Pays a checkout on its page like a payer's browser. @returns the status of the page */
export async function payWith(card: keyof typeof CARDS, { url }: Pick<Opened, 'url'>): Promise<number> {
  const typed = { name: 'Ada Lovelace', number: CARDS[card], expiry: '12 / 30', cvc: '123' };
  const form = new URLSearchParams(typed);
  const { status, body } = await fetch(url, { method: 'POST', body: form, redirect: 'manual' });
  await body?.cancel();
  return status;
}

/** The invoices of a developer, newest first. */
export async function invoicesOf(api: Api, { token }: { readonly token: string }) {
  const path = '/api/v2/dev/invoices?limit=100';
  const { status, body } = await api.call<Schemas['InvoiceList']>('GET', path, undefined, { token });
  if (status !== 200) throw new Error(`GET ${path} returned ${status} ${JSON.stringify(body)}`);
  return body.data;
}

/** A paid checkout with its first invoice. */
export interface Bought extends Opened {
  readonly invoice: Schemas['Invoice'];
}

/** Buys a plan: opens a checkout, pays on its page, and waits for the events. */
export async function buy(
  api: Api,
  developer: { readonly token: string },
  plan: Plan,
  card: keyof typeof CARDS = 'pays',
  more: Partial<Schemas['CreateCheckoutRequest']> = {},
): Promise<Bought> {
  const opened = await openCheckout(api, developer, plan, more);
  expect(await payWith(card, opened)).toBe(303);
  await becomes(api, developer, opened, 'paid');
  // Each fact arrives in an event of its own.
  const invoice = await vi.waitFor(async () => {
    const found = (await invoicesOf(api, developer)).find((each) => each.checkout_id === opened.sessionId);
    expect(found).toBeDefined();
    return found!;
  }, WAIT);
  return { ...opened, invoice };
}

// `vi.waitFor` works in hooks, too, where `expect.poll` is not allowed.
const WAIT = { timeout: 60_000 };

/** Waits until a checkout is in a state. */
export async function becomes(
  api: Api,
  { token }: { readonly token: string },
  { sessionId }: Pick<Opened, 'sessionId'>,
  state: Schemas['CheckoutResult']['state'],
): Promise<void> {
  const path = `/api/v2/dev/checkouts/${sessionId}`;
  const read = () => api.call<Schemas['CheckoutResult']>('GET', path, undefined, { token });
  await vi.waitFor(async () => expect((await read()).body.state).toBe(state), WAIT);
}

/** Waits until the service has processed all events of the test processor. */
export async function untilPaymentEventsProcessed({
  database,
}: Pick<TestService, 'database'>): Promise<void> {
  const waiting = () => database.knex('test_notices').select('notice_id');
  await vi.waitFor(async () => expect(await waiting()).toEqual([]), WAIT);
}

/** Writes events as the test processor of a service. */
export interface PaymentEventWriter {
  /** The body of an event. */
  event(facts: readonly PaymentFact[], other?: object): string;
  /** The headers that sign a body. */
  headers(body: string, other?: { id?: string; at?: Date; secret?: Buffer }): Record<string, string>;
}

/** Reads the secret that the test processor of a service signs its events with. */
export async function paymentEventWriter(
  service: Pick<TestService, 'database' | 'clock'>,
): Promise<PaymentEventWriter> {
  const kept = service.database.knex<{ purpose: string; key_id: string; sealed: Buffer }>('data_keys');
  const { key_id, sealed } = (await kept.where({ purpose: 'test-payments' }).first())!;
  const keyring = createKeyring([Buffer.from(MASTER_KEY, 'base64')], systemRandom);
  const own = keyring.open(sealed, 'data-key:test-payments');
  return {
    event: (facts, other = {}) =>
      JSON.stringify({
        type: 'test',
        account: `acct_test_${key_id}`,
        livemode: false,
        created_at: service.clock.now(),
        facts,
        ...other,
      }),
    headers: (body, { id = unique('nt'), at = service.clock.now(), secret = own } = {}) =>
      signedHeaders(secret, id, body, at),
  };
}

/** The processor's reference of a checkout, which is the last part of its URL. */
const sessionRefOf = ({ url }: Opened) => new URL(url).pathname.split('/').at(-1)!;

export const minor = (plan: Plan) => Math.round(plan.price * 100);
export const paymentOf = ({ sessionId }: Opened) => `pi_${sessionId}`;
export const subscriptionOf = ({ sessionId }: Opened) => `su_${sessionId}`;

type Of<Kind extends PaymentFact['kind']> = Extract<PaymentFact, { kind: Kind }>;

/** The fact of a paid checkout. */
export function paid(opened: Opened, other: Partial<Of<'checkout'>> = {}): Of<'checkout'> {
  const recurring = opened.plan.period !== 'lifetime';
  return {
    kind: 'checkout',
    sessionRef: sessionRefOf(opened),
    reference: opened.sessionId,
    state: 'paid',
    amountMinor: minor(opened.plan),
    currency: opened.plan.currency,
    paymentRef: recurring ? null : paymentOf(opened),
    subscriptionRef: recurring ? subscriptionOf(opened) : null,
    customerRef: 'cus_1',
    receiptUrl: null,
    ...other,
  };
}

/** The fact of the invoice of a period. */
export function billed(
  opened: Opened,
  start: Date,
  end: Date,
  other: Partial<Of<'invoice'>> = {},
): Of<'invoice'> {
  return {
    kind: 'invoice',
    invoiceRef: `in_${opened.sessionId}`,
    subscriptionRef: subscriptionOf(opened),
    reference: opened.sessionId,
    state: 'paid',
    reason: 'first',
    amountMinor: minor(opened.plan),
    currency: opened.plan.currency,
    paymentRef: paymentOf(opened),
    number: 'T-1',
    periodStart: start,
    periodEnd: end,
    receiptUrl: null,
    ...other,
  };
}

/** The fact of a subscription. */
export function subscribed(
  opened: Opened,
  asOf: Date,
  periodEnd: Date,
  other: Partial<Of<'subscription'>> = {},
): Of<'subscription'> {
  return {
    kind: 'subscription',
    subscriptionRef: subscriptionOf(opened),
    reference: opened.sessionId,
    state: 'active',
    productId: opened.plan.plan_id,
    amountMinor: minor(opened.plan),
    currency: opened.plan.currency,
    customerRef: 'cus_1',
    periodEnd,
    cancelAtPeriodEnd: false,
    asOf,
    ...other,
  };
}

export function refunded(
  opened: Opened,
  refundedMinor: number,
  paymentRef = paymentOf(opened),
): Of<'refund'> {
  return { kind: 'refund', paymentRef, refundedMinor, currency: opened.plan.currency };
}

export function disputed(opened: Opened, state: Of<'dispute'>['state'], asOf: Date): Of<'dispute'> {
  return { kind: 'dispute', paymentRef: paymentOf(opened), state, asOf };
}
