import type { PaymentProcessor } from '../../../platform/payments/index.ts';
import type { Entitlements } from './entitlements.ts';
import { assertAmount, assertCurrency } from './mismatch.ts';
import type { Purchases } from './purchases.ts';
import { settlementActor, type FactOf, type Settler } from './settler.ts';

interface Dependencies {
  readonly payments: Pick<PaymentProcessor, 'processor'>;
  readonly purchases: Purchases;
  readonly entitlements: Entitlements;
}

export function createInvoiceSettler(deps: Dependencies): Settler<FactOf<'invoice'>> {
  const { payments, purchases, entitlements } = deps;

  return async (trx, fact, address, affected) => {
    const checkout = await purchases.checkoutOf(trx, fact.reference);
    assertCurrency(checkout, fact.currency);
    if (fact.reason === 'first' && fact.state === 'paid') {
      assertAmount(checkout, fact.amountMinor + (fact.creditMinor ?? 0), fact.currency);
    }
    const actor = settlementActor(payments.processor, checkout, address);
    const subscription = await purchases.subscriptionOf(trx, checkout, fact.subscriptionRef);
    const invoice = await purchases.recordInvoice(trx, checkout, {
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
    });
    if (fact.state === 'failed') return;
    if (fact.reason === 'first' || subscription.paid) {
      await purchases.markPaid(trx, subscription, fact.periodEnd);
    }
    await entitlements.settleInvoice(trx, actor, checkout, invoice);
    affected.add(actor, { hasPlan: true, customerRef: null });
  };
}
