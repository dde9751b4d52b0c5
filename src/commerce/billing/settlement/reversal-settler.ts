import type { Knex } from 'knex';
import type { PaymentProcessor } from '../../../platform/payments/index.ts';
import { findInvoicesOfPayment, recordDispute, recordRefund } from '../invoice-store.ts';
import type { AffectedDevelopers } from './affected-developers.ts';
import type { Entitlements } from './entitlements.ts';
import type { Purchases } from './purchases.ts';
import { settlementActor, type FactOf, type Settler } from './settler.ts';

interface Dependencies {
  readonly payments: Pick<PaymentProcessor, 'processor'>;
  readonly purchases: Purchases;
  readonly entitlements: Entitlements;
}

/** Settles refunds and disputes. */
export function createReversalSettlers(deps: Dependencies): {
  readonly refund: Settler<FactOf<'refund'>>;
  readonly dispute: Settler<FactOf<'dispute'>>;
} {
  const { payments, purchases, entitlements } = deps;
  const { processor } = payments;

  async function settleInvoices(
    trx: Knex.Transaction,
    paymentRef: string,
    address: string,
    affected: AffectedDevelopers,
  ): Promise<void> {
    for (const invoice of await findInvoicesOfPayment(trx, processor, paymentRef)) {
      const checkout = await purchases.checkoutOf(trx, invoice.checkout_id);
      const actor = settlementActor(processor, checkout, address);
      await entitlements.settleInvoice(trx, actor, checkout, invoice);
      affected.add(actor, { hasPlan: invoice.subscription_id !== null, customerRef: null });
    }
  }

  return {
    async refund(trx, { paymentRef, refundedMinor }, address, affected) {
      await recordRefund(trx, processor, paymentRef, refundedMinor);
      await settleInvoices(trx, paymentRef, address, affected);
    },

    async dispute(trx, fact, address, affected) {
      await recordDispute(trx, processor, fact);
      await settleInvoices(trx, fact.paymentRef, address, affected);
    },
  };
}
