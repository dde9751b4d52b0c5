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

/** The name of something that Stripe gives as a name, or as a whole where that was asked for. */
export function idOf(thing: string | { readonly id: string } | null | undefined): string | null {
  return typeof thing === 'string' ? thing : (thing?.id ?? null);
}

/** Something as a whole, where Stripe was asked for that. */
function expanded<T extends object>(thing: string | T | null | undefined): T | undefined {
  return typeof thing === 'object' && thing !== null ? thing : undefined;
}

const time = (seconds: number): Date => new Date(seconds * 1000);
const upper = (currency: string): string => currency.toUpperCase();

/** Whether a checkout is paid: nothing is to be paid when a credit of the customer covers it. */
export function isPaid({ status, payment_status }: Stripe.Checkout.Session): boolean {
  return status === 'complete' && payment_status !== 'unpaid';
}

/**
 * The state of a checkout. A completed one that is not paid waits for the bank, unless the bank has said no: that is not in
 * the session, but in its payment.
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
 * @param session a paid one with `payment_intent.latest_charge` and `invoice.payments` as wholes
 * @param state what the event says, where that is more than the session does
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

/** The payment of an invoice: the one that went through, else the one that is tried. */
function paymentOf(payments: readonly Stripe.InvoicePayment[]): string | null {
  const chosen =
    payments.find(({ status }) => status === 'paid') ??
    payments.find(({ is_default, status }) => is_default && status !== 'canceled');
  return idOf(chosen?.payment.payment_intent);
}

/** The subscription that an invoice is of. */
export function subscriptionOf(invoice: Stripe.Invoice): string | null {
  return idOf(invoice.parent?.subscription_details?.subscription);
}

/** What an invoice is about: that of a failed one is what could not be taken. */
export function amountOf(invoice: Stripe.Invoice, state: InvoiceFact['state']): number {
  return state === 'paid' ? invoice.amount_paid : invoice.amount_due;
}

/** What an invoice has taken from the customer's balance: at Stripe a credit is below 0. */
function creditOf({ starting_balance, ending_balance }: Stripe.Invoice): number {
  return ending_balance === null ? 0 : Math.max(0, ending_balance - starting_balance);
}

const REASONS: Readonly<Record<string, InvoiceFact['reason']>> = {
  subscription_create: 'first',
  subscription_cycle: 'renewal',
};

/**
 * The state of an invoice.
 * @returns undefined while nobody has tried to pay it, and when it is void
 */
export function invoiceState({ status, attempted }: Stripe.Invoice): InvoiceFact['state'] | undefined {
  if (status === 'paid') return 'paid';
  return status === 'uncollectible' || (status === 'open' && attempted) ? 'failed' : undefined;
}

/**
 * @param payments of the invoice; they are no part of it unless they are asked for
 * @param reference that of the subscription
 * @returns undefined for an invoice that is of no subscription
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
 * The period that an invoice pays for. The period of the invoice itself is the one before, in which things to be billed were
 * collected; what is paid in advance is in its lines. Those of a change also tell of the time that is credited: the line that
 * reaches furthest is meant, and of two such the one that begins later.
 */
function periodOf(invoice: Stripe.Invoice): Pick<InvoiceFact, 'periodStart' | 'periodEnd'> {
  const own = { start: invoice.period_start, end: invoice.period_end };
  const periods = invoice.lines.data.map(({ period }) => period);
  const { start, end } = periods.sort((a, b) => b.end - a.end || b.start - a.start)[0] ?? own;
  return { periodStart: time(start), periodEnd: time(end) };
}

/** `unpaid`: the account's settings keep a subscription that Stripe has given up on. */
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
    // Stripe's page for customers sets the moment instead.
    cancelAtPeriodEnd: cancel_at_period_end || (cancel_at !== null && cancel_at <= item.current_period_end),
    asOf,
  };
}

/** @returns undefined for a charge that no payment of ours is behind */
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
 * @param reinstated whether the money has come back: Stripe says so in an event of its own
 * @returns undefined for a mere inquiry, which takes no money, and for a charge that no payment of ours is behind
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
