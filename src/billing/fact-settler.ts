import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import { endOfPeriod } from '../platform/calendar-state.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Fact, Payments } from '../platform/payments/index.ts';
import type { PlanRow, Plans } from '../plans/plans.ts';
import * as checkoutStore from './checkout-store.ts';
import type { CheckoutRow } from './checkout-store.ts';
import type { Concerned } from './concerned.ts';
import type { Entitlements } from './entitlements.ts';
import * as invoiceStore from './invoice-store.ts';
import type { InvoiceRow } from './invoice-store.ts';
import * as store from './subscription-store.ts';
import type { SubscriptionRow } from './subscription-store.ts';

/** A fact that is not about what was asked for: nothing is granted for it. */
export class Mismatch extends Error {}

/**
 * Writes down what a fact says, and gives or takes back what follows from it but the plan: whose may have changed is noted. The
 * caller's transaction holds all settlements.
 * @throws Mismatch
 */
export type FactSettler = (
  trx: Knex.Transaction,
  fact: Fact,
  address: string,
  concerned: Concerned,
) => Promise<void>;

interface Dependencies {
  readonly payments: Pick<Payments, 'processor'>;
  readonly plans: Plans;
  readonly entitlements: Entitlements;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Who settles a developer's payments, for the audit log. */
export function settlerOf(
  processor: string,
  { developer_id: developerId }: { readonly developer_id: string },
  address: string,
): Actor {
  return { kind: 'service', id: processor, developerId, address };
}

export function createFactSettler(deps: Dependencies): FactSettler {
  const { payments, plans, entitlements, clock, newId } = deps;
  const { processor } = payments;

  async function checkoutOf(trx: Knex.Transaction, reference: string): Promise<CheckoutRow> {
    const checkout = await checkoutStore.findCheckout(trx, reference);
    if (checkout?.processor === processor) return checkout;
    throw new Mismatch(`there is no checkout ${reference}`);
  }

  /** The subscription of a checkout, whichever fact speaks of it first. */
  async function subscriptionOf(
    trx: Knex.Transaction,
    checkout: CheckoutRow,
    subscriptionRef: string | null,
  ): Promise<SubscriptionRow> {
    const now = clock.now();
    const row = await store.ensureSubscription(trx, {
      subscription_id: newId('sub'),
      developer_id: checkout.developer_id,
      checkout_id: checkout.checkout_id,
      plan_id: checkout.plan_id,
      processor,
      subscription_ref: subscriptionRef,
      state: 'pending',
      paid: false,
      reversed: false,
      period_end: null,
      cancel_at_period_end: false,
      as_of: null,
      end_wanted: false,
      change_asked_at: null,
      looked_up_at: now,
      created_at: now,
      ended_at: null,
    });
    if (row.subscription_ref === subscriptionRef) return row;
    throw new Mismatch(`the subscription of ${checkout.checkout_id} is another one`);
  }

  function assertAmount(checkout: CheckoutRow, amountMinor: number, currency: string): void {
    if (checkout.amount_minor === amountMinor && checkout.currency === currency) return;
    throw new Mismatch(
      `${checkout.checkout_id} is about ${checkout.amount_minor} ${checkout.currency}, not ${amountMinor} ${currency}`,
    );
  }

  /** A subscription that was paid: active until its own facts say more. */
  async function markPaid(
    trx: Knex.Transaction,
    row: SubscriptionRow,
    periodEnd: Date | null,
  ): Promise<void> {
    const { subscription_id: id, state, paid, period_end: known } = row;
    const later = known && periodEnd && known > periodEnd ? known : periodEnd;
    await store.updateSubscription(trx, id, {
      paid: true,
      // One that was paid before waits for its own facts: it was suspended.
      ...(state === 'pending' && !paid && { state: 'active' as const }),
      period_end: later,
    });
  }

  function invoiceOf(
    checkout: CheckoutRow,
    known: Pick<
      InvoiceRow,
      'invoice_ref' | 'payment_ref' | 'state' | 'amount_minor' | 'receipt_url' | 'reason'
    > &
      Partial<InvoiceRow>,
  ): InvoiceRow {
    return {
      invoice_id: newId('inv'),
      developer_id: checkout.developer_id,
      checkout_id: checkout.checkout_id,
      plan_id: checkout.plan_id,
      subscription_id: null,
      processor,
      number: null,
      currency: checkout.currency,
      refunded_minor: 0,
      dispute: null,
      units: null,
      units_granted: 0,
      ever_granted: false,
      period_start: null,
      period_end: null,
      created_at: clock.now(),
      ...known,
    };
  }

  async function settleOnce(
    trx: Knex.Transaction,
    actor: Actor,
    checkout: CheckoutRow,
    plan: PlanRow,
    fact: CheckoutFact,
  ) {
    let subscription_id: string | null = null;
    if (plan.kind === 'subscription') {
      const subscription = await subscriptionOf(trx, checkout, null);
      await markPaid(trx, subscription, null);
      ({ subscription_id } = subscription);
    }
    const { paymentRef, receiptUrl, sessionRef, amountMinor } = fact;
    const invoice = await invoiceStore.upsertInvoice(
      trx,
      invoiceOf(checkout, {
        invoice_ref: sessionRef,
        payment_ref: paymentRef,
        reason: 'once',
        state: 'paid',
        amount_minor: amountMinor,
        receipt_url: receiptUrl,
        subscription_id,
        units: checkout.units,
      }),
    );
    await entitlements.settleInvoice(trx, actor, checkout, invoice);
  }

  const settlers: { readonly [Kind in Fact['kind']]: Settler<Extract<Fact, { kind: Kind }>> } = {
    async checkout(trx, fact, address, concerned) {
      const checkout = await checkoutOf(trx, fact.reference);
      if (checkout.session_ref !== null && checkout.session_ref !== fact.sessionRef) {
        throw new Mismatch(`${checkout.checkout_id} is paid in another session`);
      }
      const { checkout_id: id, status } = checkout;
      const { state } = fact;
      if (state === 'open' || status === 'paid') {
        if (state !== 'paid') return;
      } else if (state !== 'paid') {
        // What the bank has said no to is not waiting for it any more, whatever an older message says.
        if (state === 'processing' && status !== 'open') return;
        await checkoutStore.updateCheckout(trx, id, { status: state });
        return;
      }
      assertAmount(checkout, fact.amountMinor, fact.currency);
      const actor = settlerOf(processor, checkout, address);
      const now = clock.now();
      if (status !== 'paid') await checkoutStore.updateCheckout(trx, id, { status: 'paid', paid_at: now });
      const plan = (await plans.find(trx, checkout.plan_id))!;
      if (fact.subscriptionRef === null) {
        if (plan.period !== 'lifetime') throw new Mismatch(`${id} was paid without a subscription`);
        await settleOnce(trx, actor, checkout, plan, fact);
      } else {
        if (plan.period === 'lifetime') throw new Mismatch(`${id} was paid with a subscription`);
        const subscription = await subscriptionOf(trx, checkout, fact.subscriptionRef);
        const end = subscription.period_end ?? endOfPeriod(now, plan.period, 1);
        await markPaid(trx, subscription, end);
      }
      concerned.add(actor, { hasPlan: plan.kind === 'subscription', customerRef: fact.customerRef });
    },

    async invoice(trx, fact, address, concerned) {
      const checkout = await checkoutOf(trx, fact.reference);
      if (fact.currency !== checkout.currency) {
        throw new Mismatch(`${checkout.checkout_id} is in ${checkout.currency}, not ${fact.currency}`);
      }
      if (fact.reason === 'first' && fact.state === 'paid') {
        assertAmount(checkout, fact.amountMinor + (fact.creditMinor ?? 0), fact.currency);
      }
      const actor = settlerOf(processor, checkout, address);
      const subscription = await subscriptionOf(trx, checkout, fact.subscriptionRef);
      const invoice = await invoiceStore.upsertInvoice(
        trx,
        invoiceOf(checkout, {
          invoice_ref: fact.invoiceRef,
          payment_ref: fact.paymentRef,
          reason: fact.reason,
          state: fact.state,
          amount_minor: fact.amountMinor,
          receipt_url: fact.receiptUrl,
          number: fact.number,
          plan_id: subscription.plan_id,
          subscription_id: subscription.subscription_id,
          period_start: fact.periodStart,
          period_end: fact.periodEnd,
        }),
      );
      if (fact.state === 'failed') return;
      if (fact.reason === 'first') await markPaid(trx, subscription, fact.periodEnd);
      else if (subscription.paid) await markPaid(trx, subscription, fact.periodEnd);
      await entitlements.settleInvoice(trx, actor, checkout, invoice);
      concerned.add(actor, { hasPlan: true, customerRef: null });
    },

    async subscription(trx, fact, address, concerned) {
      const checkout = await checkoutOf(trx, fact.reference);
      if (fact.currency !== checkout.currency) {
        throw new Mismatch(`${checkout.checkout_id} is in ${checkout.currency}, not ${fact.currency}`);
      }
      const plan = await plans.find(trx, fact.productId);
      if (plan?.kind !== 'subscription') throw new Mismatch(`there is no plan ${fact.productId}`);
      const actor = settlerOf(processor, checkout, address);
      const row = await subscriptionOf(trx, checkout, fact.subscriptionRef);
      // What has ended has ended, and news from before the last one is none.
      if (row.state === 'ended' || (row.as_of && row.as_of > fact.asOf)) return;
      await store.updateSubscription(trx, row.subscription_id, {
        plan_id: plan.plan_id,
        // What was paid is not waiting for its first payment any more, whatever an older message says.
        ...(!(row.paid && fact.state === 'pending') && {
          state: fact.state === 'unpaid' ? 'pending' : fact.state,
        }),
        period_end: fact.periodEnd,
        cancel_at_period_end: fact.cancelAtPeriodEnd,
        as_of: fact.asOf,
        ...(row.change_asked_at && fact.asOf >= row.change_asked_at && { change_asked_at: null }),
        ...(fact.state === 'ended' && { ended_at: clock.now(), end_wanted: false }),
      });
      concerned.add(actor, { hasPlan: true, customerRef: fact.customerRef });
    },

    async refund(trx, { paymentRef, refundedMinor }, address, concerned) {
      await invoiceStore.noteRefund(trx, processor, paymentRef, refundedMinor);
      await settleReversal(trx, paymentRef, address, concerned);
    },

    async dispute(trx, fact, address, concerned) {
      await invoiceStore.noteDispute(trx, processor, fact);
      await settleReversal(trx, fact.paymentRef, address, concerned);
    },
  };

  async function settleReversal(
    trx: Knex.Transaction,
    paymentRef: string,
    address: string,
    concerned: Concerned,
  ): Promise<void> {
    for (const invoice of await invoiceStore.findInvoicesOfPayment(trx, processor, paymentRef)) {
      const checkout = await checkoutOf(trx, invoice.checkout_id);
      const actor = settlerOf(processor, checkout, address);
      await entitlements.settleInvoice(trx, actor, checkout, invoice);
      concerned.add(actor, { hasPlan: invoice.subscription_id !== null, customerRef: null });
    }
  }

  return (trx, fact, address, concerned) =>
    (settlers[fact.kind] as Settler<Fact>)(trx, fact, address, concerned);
}

type CheckoutFact = Extract<Fact, { kind: 'checkout' }>;
type Settler<Kind extends Fact> = (
  trx: Knex.Transaction,
  fact: Kind,
  address: string,
  concerned: Concerned,
) => Promise<void>;
