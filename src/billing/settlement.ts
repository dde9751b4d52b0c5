import type { IncomingHttpHeaders } from 'node:http';
import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import type { Developers } from '../developers/developers.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import { lockExclusive } from '../platform/database/advisory-lock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { PaymentsError, type Fact, type Notice, type Payments } from '../platform/payments/index.ts';
import type { PlanRow, Plans } from '../plans/plans.ts';
import { periodAfter } from './billing-state.ts';
import { Concerned } from './concerned.ts';
import * as checkoutStore from './checkout-store.ts';
import type { CheckoutRow } from './checkout-store.ts';
import type { Entitlements } from './entitlements.ts';
import * as invoiceStore from './invoice-store.ts';
import type { InvoiceRow } from './invoice-store.ts';
import * as noticeStore from './notice-store.ts';
import { talkTo } from './processor-faults.ts';
import * as store from './subscription-store.ts';
import type { SubscriptionRow } from './subscription-store.ts';

/** Settlements run one by one, on all nodes: facts about one payment may come from several messages at once. */
const LOCK = 'payments.settlement';
/** Longer than any processor repeats a notice. */
const NOTICES_KEPT_MS = 90 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;

/** What became of a notice: `ignored` tells nothing that we need to know. */
export type NoticeOutcome = 'applied' | 'repeated' | 'ignored' | 'refused';

/** Turns what the payment processor says into what developers have: once, whatever comes twice, late or in another order. */
export interface Settlement {
  /**
   * Takes a notice of the processor.
   * @param body the bytes as they came
   * @returns `refused` when it is not about what was asked for: another amount, currency, or purchase
   * @throws ApiError INVALID_PAYMENT_NOTICE when the processor has not signed it just now, or for this account
   */
  receive(body: Buffer, headers: IncomingHttpHeaders, client: Client): Promise<NoticeOutcome>;
  /** Settles facts that the processor was asked for. @returns why some of them were refused */
  settle(facts: readonly Fact[], address: string): Promise<readonly string[]>;
  /**
   * Stops giving what a subscription of another processor is for, which nobody here can ask any more. It is given again when
   * that processor is back and says that the subscription runs.
   */
  suspend(subscriptionId: string, address: string): Promise<void>;
  /** Deletes some notices that are too old to come again. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly payments: Payments;
  readonly plans: Plans;
  readonly developers: Developers;
  readonly entitlements: Entitlements;
  readonly metrics: Pick<Metrics, 'countNotice'>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** A fact that is not about what was asked for: nothing is granted for it. */
class Mismatch extends Error {}

export function createSettlement(deps: Dependencies): Settlement {
  const { knex, payments, plans, developers, entitlements, metrics, logger, clock, newId } = deps;
  const { processor } = payments;

  async function checkoutOf(trx: Knex.Transaction, reference: string): Promise<CheckoutRow> {
    const checkout = await checkoutStore.findCheckout(trx, reference);
    if (checkout?.processor === processor) return checkout;
    throw new Mismatch(`there is no checkout ${reference}`);
  }

  const actorOf = (
    { developer_id: developerId }: { readonly developer_id: string },
    address: string,
  ): Actor => ({
    kind: 'service',
    id: processor,
    developerId,
    address,
  });

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
      const actor = actorOf(checkout, address);
      const now = clock.now();
      if (status !== 'paid') await checkoutStore.updateCheckout(trx, id, { status: 'paid', paid_at: now });
      const plan = (await plans.find(trx, checkout.plan_id))!;
      if (fact.subscriptionRef === null) {
        if (plan.period !== 'lifetime') throw new Mismatch(`${id} was paid without a subscription`);
        await settleOnce(trx, actor, checkout, plan, fact);
      } else {
        if (plan.period === 'lifetime') throw new Mismatch(`${id} was paid with a subscription`);
        const subscription = await subscriptionOf(trx, checkout, fact.subscriptionRef);
        const end = subscription.period_end ?? periodAfter(now, plan.period);
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
      const actor = actorOf(checkout, address);
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
      const actor = actorOf(checkout, address);
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
      const actor = actorOf(checkout, address);
      await entitlements.settleInvoice(trx, actor, checkout, invoice);
      concerned.add(actor, { hasPlan: invoice.subscription_id !== null, customerRef: null });
    }
  }

  /** @returns why some of the facts were refused; those that were not have been settled */
  async function settleAll(
    trx: Knex.Transaction,
    facts: readonly Fact[],
    address: string,
  ): Promise<string[]> {
    const concerned = new Concerned();
    const refused: string[] = [];
    for (const fact of facts) {
      try {
        await trx.transaction((part) =>
          (settlers[fact.kind] as Settler<Fact>)(part, fact, address, concerned),
        );
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error;
        logger.error({ processor, fact: fact.kind, reason: error.message }, 'a payment was not settled');
        refused.push(error.message);
      }
    }
    // After all of them: whoever makes an application or licences waits for the rows of his developer.
    for (const { actor, hasPlan, customerRef } of concerned.all()) {
      if (hasPlan) await entitlements.settlePlan(trx, actor);
      if (customerRef !== null) await developers.noteCustomer(trx, actor.developerId, customerRef);
    }
    return refused;
  }

  /** Settles a notice, once. */
  async function take({ noticeId, type, facts }: Notice, address: string): Promise<NoticeOutcome> {
    return knex.transaction(async (trx) => {
      await lockExclusive(trx, LOCK);
      if (await noticeStore.isKnown(trx, processor, noticeId)) return 'repeated';
      const refused = await settleAll(trx, facts, address);
      const outcome = refused.length > 0 ? 'refused' : 'applied';
      await noticeStore.insertNotice(trx, {
        processor,
        notice_id: noticeId,
        type,
        outcome,
        detail: refused.length > 0 ? refused.join('; ') : null,
        received_at: clock.now(),
      });
      return outcome;
    });
  }

  async function read(body: Buffer, headers: IncomingHttpHeaders): Promise<Notice | undefined> {
    try {
      return await talkTo(() => payments.readNotice(body, headers));
    } catch (error) {
      if (!(error instanceof PaymentsError)) throw error;
      logger.warn({ processor, fault: error.fault }, 'a notice of a payment was refused');
      metrics.countNotice('invalid');
      throw new ApiError('INVALID_PAYMENT_NOTICE', { cause: error });
    }
  }

  return {
    async receive(body, headers, { address }) {
      const notice = await read(body, headers);
      const outcome = notice ? await take(notice, address) : 'ignored';
      metrics.countNotice(outcome);
      return outcome;
    },

    async settle(facts, address) {
      return knex.transaction(async (trx) => {
        await lockExclusive(trx, LOCK);
        return settleAll(trx, facts, address);
      });
    },

    async suspend(subscriptionId, address) {
      await knex.transaction(async (trx) => {
        await lockExclusive(trx, LOCK);
        const row = (await store.findSubscription(trx, subscriptionId))!;
        if (row.processor === processor || row.state === 'ended') return;
        await store.updateSubscription(trx, subscriptionId, { state: 'pending' });
        await entitlements.settlePlan(trx, actorOf(row, address));
      });
    },

    clearExpired: () =>
      noticeStore.clearNotices(knex, new Date(clock.now().getTime() - NOTICES_KEPT_MS), CLEARED_AT_ONCE),
  };
}

type CheckoutFact = Extract<Fact, { kind: 'checkout' }>;
type Settler<Kind extends Fact> = (
  trx: Knex.Transaction,
  fact: Kind,
  address: string,
  concerned: Concerned,
) => Promise<void>;
