import type { components } from '../../generated/types.ts';
import type { Fact } from '../../src/platform/payments/index.ts';
import type { Api } from './api.ts';
import { ADMIN_TOKEN } from './service.ts';
import { unique } from './fixtures.ts';

type Schemas = components['schemas'];
type Plan = Schemas['AdministeredPlan'];

/** What the administrator calls with. */
export const ADMINISTRATOR = { token: ADMIN_TOKEN };

/** Sells a plan that is like `Pro` unless told. */
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
  if (status !== 201) throw new Error(`POST /api/v2/admin/plans answered ${status} ${JSON.stringify(body)}`);
  return body;
}

/** A checkout that was opened, and what it asks for. */
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
  more: Partial<Schemas['CheckoutRequest']> = {},
): Promise<Opened> {
  const wanted = { plan_name: plan.plan_id, ...more };
  const { status, body } = await api.post<Schemas['CheckoutSession']>('/api/v1/checkout', wanted, { token });
  if (status !== 200) throw new Error(`POST /api/v1/checkout answered ${status} ${JSON.stringify(body)}`);
  return { sessionId: body.sessionId, url: body.url, plan };
}

/** The processor's name of a checkout, as it stands at the end of the test processor's address of it. */
const sessionRefOf = ({ url }: Opened) => new URL(url).pathname.split('/').at(-1)!;

export const minor = (plan: Plan) => Math.round(plan.price * 100);
export const paymentOf = ({ sessionId }: Opened) => `pi_${sessionId}`;
export const subscriptionOf = ({ sessionId }: Opened) => `su_${sessionId}`;

type Of<Kind extends Fact['kind']> = Extract<Fact, { kind: Kind }>;

/** What the processor says of a checkout that was paid. */
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

/** What it says of the bill of a period. */
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

/** What it says of a subscription. */
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

export function refunded(opened: Opened, refundedMinor: number): Of<'refund'> {
  return { kind: 'refund', paymentRef: paymentOf(opened), refundedMinor, currency: opened.plan.currency };
}

export function disputed(opened: Opened, state: Of<'dispute'>['state'], asOf: Date): Of<'dispute'> {
  return { kind: 'dispute', paymentRef: paymentOf(opened), state, asOf };
}
