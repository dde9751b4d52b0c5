import type Stripe from 'stripe';
import type {
  CheckoutFact,
  DisputeFact,
  InvoiceFact,
  RefundFact,
  SubscriptionFact,
} from '../payment-fact.ts';
import { fromStripe } from './amounts.ts';
import { ourProductId } from './products.ts';

/** The id of an object that Stripe returns as an id, or whole if it is expanded. */
export function idOf(thing: string | { readonly id: string } | null | undefined): string | null {
  return typeof thing === 'string' ? thing : (thing?.id ?? null);
}

/** The object if it is expanded. */
function expanded<T extends object>(thing: string | T | null | undefined): T | undefined {
  return typeof thing === 'object' && thing !== null ? thing : undefined;
}

const time = (seconds: number): Date => new Date(seconds * 1000);
const upper = (currency: string): string => currency.toUpperCase();

/** Whether a checkout is paid, by a payment or entirely by a credit of the customer. */
export function isPaid({ status, payment_status }: Stripe.Checkout.Session): boolean {
  return status === 'complete' && payment_status !== 'unpaid';
}

/**
 * The state of a checkout. A completed one that is not paid waits for the bank, unless the bank has refused: only the
 * session's payment or invoice says so.
 */
function stateOf(session: Stripe.Checkout.Session): CheckoutFact['state'] {
  if (isPaid(session)) return 'paid';
  if (session.status === 'expired') return 'expired';
  if (session.status !== 'complete') return 'open';
  const payment = expanded(session.payment_intent)?.status;
  const invoice = expanded(session.invoice)?.status;
  const failed = payment === 'requires_payment_method' || payment === 'canceled';
  return failed || invoice === 'void' || invoice === 'uncollectible' ? 'failed' : 'processing';
}

/**
 * @param session if paid, with `payment_intent.latest_charge` and `invoice.payments` expanded
 * @param state given by an event that says more than the session
 * @returns undefined for a checkout that is not ours
 */
export function checkoutFact(
  session: Stripe.Checkout.Session,
  state: CheckoutFact['state'] = stateOf(session),
): CheckoutFact | undefined {
  const reference = session.metadata?.['reference'];
  const { amount_total, currency } = session;
  if (reference === undefined || amount_total === null || currency === null) return undefined;
  const charge = expanded(expanded(session.payment_intent)?.latest_charge);
  const invoice = expanded(session.invoice);
  return {
    kind: 'checkout',
    sessionRef: session.id,
    reference,
    state,
    amountMinor: fromStripe(amount_total, upper(currency)),
    currency: upper(currency),
    paymentRef: idOf(session.payment_intent) ?? (invoice ? paymentOf(invoice.payments?.data ?? []) : null),
    subscriptionRef: idOf(session.subscription),
    customerRef: idOf(session.customer),
    receiptUrl: charge?.receipt_url ?? invoice?.hosted_invoice_url ?? null,
  };
}

/** The payment of an invoice: the one that succeeded, else the current attempt. */
function paymentOf(payments: readonly Stripe.InvoicePayment[]): string | null {
  const chosen =
    payments.find(({ status }) => status === 'paid') ??
    payments.find(({ is_default, status }) => is_default && status !== 'canceled');
  return idOf(chosen?.payment.payment_intent);
}

/** The subscription of an invoice. */
export function subscriptionOf(invoice: Stripe.Invoice): string | null {
  return idOf(invoice.parent?.subscription_details?.subscription);
}

/** The amount of an invoice: what was paid, or what could not be charged. */
export function amountOf(invoice: Stripe.Invoice, state: InvoiceFact['state']): number {
  return state === 'paid' ? invoice.amount_paid : invoice.amount_due;
}

/** What the customer's balance paid of an invoice. At Stripe, a credit is a balance below 0. */
function creditOf({ starting_balance, ending_balance }: Stripe.Invoice): number {
  return ending_balance === null ? 0 : Math.max(0, ending_balance - starting_balance);
}

const REASONS: Readonly<Record<string, InvoiceFact['reason']>> = {
  subscription_create: 'first',
  subscription_cycle: 'renewal',
};

/**
 * The state of an invoice.
 * @returns undefined if it is void or no payment has been attempted
 */
export function invoiceState({ status, attempted }: Stripe.Invoice): InvoiceFact['state'] | undefined {
  if (status === 'paid') return 'paid';
  return status === 'uncollectible' || (status === 'open' && attempted) ? 'failed' : undefined;
}

/**
 * @param payments those of the invoice, which does not contain them unless expanded
 * @param reference that of the subscription
 * @returns undefined for an invoice without a subscription
 */
export function invoiceFact(
  invoice: Stripe.Invoice,
  state: InvoiceFact['state'],
  payments: readonly Stripe.InvoicePayment[],
  reference: string,
): InvoiceFact | undefined {
  const subscriptionRef = subscriptionOf(invoice);
  if (subscriptionRef === null) return undefined;
  const amount = amountOf(invoice, state);
  return {
    kind: 'invoice',
    invoiceRef: invoice.id,
    subscriptionRef,
    reference,
    state,
    reason: REASONS[invoice.billing_reason ?? ''] ?? 'change',
    amountMinor: fromStripe(amount, upper(invoice.currency)),
    creditMinor: fromStripe(creditOf(invoice), upper(invoice.currency)),
    currency: upper(invoice.currency),
    paymentRef: amount > 0 ? paymentOf(payments) : null,
    number: invoice.number,
    ...periodOf(invoice),
    receiptUrl: invoice.hosted_invoice_url ?? null,
  };
}

/**
 * The period that an invoice pays for: of its lines, the one that ends last, or of two such lines the one that begins
 * later. The other lines of a change are for the time that is credited. The invoice's own period is the one before, in
 * which usage was collected.
 */
function periodOf(invoice: Stripe.Invoice): Pick<InvoiceFact, 'periodStart' | 'periodEnd'> {
  const own = { start: invoice.period_start, end: invoice.period_end };
  const periods = invoice.lines.data.map(({ period }) => period);
  const { start, end } = periods.sort((a, b) => b.end - a.end || b.start - a.start)[0] ?? own;
  return { periodStart: time(start), periodEnd: time(end) };
}

/** `unpaid`: Stripe no longer retries, and the account's settings keep the subscription. */
const STATES: Readonly<Record<string, SubscriptionFact['state']>> = {
  incomplete: 'pending',
  incomplete_expired: 'ended',
  trialing: 'active',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'unpaid',
  paused: 'unpaid',
  canceled: 'ended',
};

/** @returns undefined for a subscription that is not ours */
export function subscriptionFact(
  subscription: Stripe.Subscription,
  asOf: Date,
): SubscriptionFact | undefined {
  const { reference, product_id } = subscription.metadata;
  const [item] = subscription.items.data;
  const state = STATES[subscription.status];
  if (reference === undefined || item === undefined || state === undefined) return undefined;
  const productId = ourProductId(idOf(item.price.product)) ?? product_id;
  if (productId === undefined) return undefined;
  const currency = upper(item.price.currency);
  const { cancel_at_period_end, cancel_at } = subscription;
  return {
    kind: 'subscription',
    subscriptionRef: subscription.id,
    reference,
    state,
    productId,
    amountMinor: fromStripe((item.price.unit_amount ?? 0) * (item.quantity ?? 1), currency),
    currency,
    customerRef: idOf(subscription.customer),
    periodEnd: time(item.current_period_end),
    // Stripe's customer portal sets `cancel_at` instead.
    cancelAtPeriodEnd: cancel_at_period_end || (cancel_at !== null && cancel_at <= item.current_period_end),
    asOf,
  };
}

/** @returns undefined for a charge without a payment of ours */
export function refundFact(charge: Stripe.Charge): RefundFact | undefined {
  const paymentRef = idOf(charge.payment_intent);
  if (paymentRef === null) return undefined;
  const currency = upper(charge.currency);
  return {
    kind: 'refund',
    paymentRef,
    refundedMinor: fromStripe(charge.amount_refunded, currency),
    currency,
  };
}

/**
 * @param reinstated whether the money was returned, which Stripe reports in a separate event
 * @returns undefined for an inquiry, which moves no money, and for a charge without a payment of ours
 */
export function disputeFact(
  dispute: Stripe.Dispute,
  asOf: Date,
  reinstated = false,
): DisputeFact | undefined {
  const paymentRef = idOf(dispute.payment_intent);
  const inquiry = dispute.status.startsWith('warning_') || dispute.status === 'prevented';
  if (paymentRef === null || inquiry) return undefined;
  const { status } = dispute;
  const state = reinstated || status === 'won' ? 'won' : status === 'lost' ? 'lost' : 'open';
  return { kind: 'dispute', paymentRef, state, asOf };
}
