import type { Knex } from 'knex';
import type { PlanRow, Plans } from '../../../accounts/plans/plans.ts';
import type { Actor } from '../../../foundation/audit/audit.ts';
import { endOfPeriod } from '../../../platform/calendar-state.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { PaymentProcessor } from '../../../platform/payments/index.ts';
import { updateCheckout, type CheckoutRow } from '../checkout-store.ts';
import type { Entitlements } from './entitlements.ts';
import { assertAmount, Mismatch } from './mismatch.ts';
import type { Purchases } from './purchases.ts';
import { settlementActor, type FactOf, type Settler } from './settler.ts';

interface Dependencies {
  readonly payments: Pick<PaymentProcessor, 'processor'>;
  readonly plans: Plans;
  readonly purchases: Purchases;
  readonly entitlements: Entitlements;
  readonly clock: Clock;
}

export function createCheckoutSettler(deps: Dependencies): Settler<FactOf<'checkout'>> {
  const { payments, plans, purchases, entitlements, clock } = deps;

  /** Grants a purchase that is paid once: a pack, or a lifetime plan. */
  async function settleOnce(
    trx: Knex.Transaction,
    actor: Actor,
    checkout: CheckoutRow,
    plan: PlanRow,
    { paymentRef, receiptUrl, sessionRef, amountMinor }: FactOf<'checkout'>,
  ): Promise<void> {
    let subscription_id: string | null = null;
    if (plan.kind === 'subscription') {
      const subscription = await purchases.subscriptionOf(trx, checkout, null);
      await purchases.markPaid(trx, subscription, null);
      ({ subscription_id } = subscription);
    }
    const invoice = await purchases.recordInvoice(trx, checkout, {
      invoice_ref: sessionRef,
      payment_ref: paymentRef,
      reason: 'once',
      state: 'paid',
      amount_minor: amountMinor,
      receipt_url: receiptUrl,
      subscription_id,
      units: checkout.units,
    });
    await entitlements.settleInvoice(trx, actor, checkout, invoice);
  }

  return async (trx, fact, address, affected) => {
    const checkout = await purchases.checkoutOf(trx, fact.reference);
    if (checkout.session_ref !== null && checkout.session_ref !== fact.sessionRef) {
      throw new Mismatch(`${checkout.checkout_id} is paid in another session`);
    }
    const { checkout_id: id, status } = checkout;
    const { state } = fact;
    if (state !== 'paid') {
      const next = nextStatus(status, state);
      if (next !== undefined) await updateCheckout(trx, id, { status: next });
      return;
    }
    assertAmount(checkout, fact.amountMinor, fact.currency);
    const actor = settlementActor(payments.processor, checkout, address);
    const now = clock.now();
    if (status !== 'paid') await updateCheckout(trx, id, { status: 'paid', paid_at: now });
    const plan = (await plans.find(trx, checkout.plan_id))!;
    if (fact.subscriptionRef === null) {
      if (plan.period !== 'lifetime') throw new Mismatch(`${id} was paid without a subscription`);
      await settleOnce(trx, actor, checkout, plan, fact);
    } else {
      if (plan.period === 'lifetime') throw new Mismatch(`${id} was paid with a subscription`);
      const subscription = await purchases.subscriptionOf(trx, checkout, fact.subscriptionRef);
      const end = subscription.period_end ?? endOfPeriod(now, plan.period, 1);
      await purchases.markPaid(trx, subscription, end);
    }
    affected.add(actor, { hasPlan: plan.kind === 'subscription', customerRef: fact.customerRef });
  };
}

/** What a fact makes of a checkout that is not paid; undefined when nothing changes. */
function nextStatus(
  status: CheckoutRow['status'],
  state: Exclude<FactOf<'checkout'>['state'], 'paid'>,
): CheckoutRow['status'] | undefined {
  if (state === 'open' || status === 'paid') return undefined;
  // A payment that the bank has declined is no longer processing, even if an older event says so.
  return state === 'processing' && status !== 'open' ? undefined : state;
}
