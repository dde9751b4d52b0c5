import { PaymentsError } from '../errors.ts';
import type { CheckoutPage, ReceiptView } from './checkout-page.ts';
import { viewOf, type TestCheckouts } from './checkouts.ts';
import type { Context } from './context.ts';
import { listPayments } from './payment-store.ts';
import type { TestPayments } from './payments.ts';
import { receiptNumber } from './receipt.ts';
import { lockSubscriptionForUpdate, type SubscriptionRow } from './subscription-store.ts';
import type { TestSubscriptions } from './subscriptions.ts';

/** Enough for a year of monthly payments and some changes. */
const PAYMENTS_SHOWN = 24;

interface Parts {
  readonly payments: TestPayments;
  readonly subscriptions: TestSubscriptions;
  readonly checkouts: TestCheckouts;
}

/** The page of a purchase, its receipt and the test tools on it. */
export function createReceipts(
  { change }: Context,
  { payments, subscriptions, checkouts }: Parts,
): Pick<CheckoutPage, 'view' | 'receipt' | 'useTool'> {
  const receipt = (sessionRef: string): Promise<ReceiptView | undefined> =>
    change(async (trx) => {
      const row = await checkouts.find(trx, sessionRef);
      if (!row) return undefined;
      const subscription =
        row.subscription_ref && (await lockSubscriptionForUpdate(trx, row.subscription_ref));
      const paid = await listPayments(trx, sessionRef, PAYMENTS_SHOWN);
      return {
        ...viewOf(row),
        payments: paid.map((payment) => ({
          paymentRef: payment.payment_ref,
          number: receiptNumber('TP', payment.sequence),
          paidAt: payment.paid_at,
          amountMinor: payment.amount_minor,
          refundedMinor: payment.refunded_minor,
          dispute: payment.dispute,
        })),
        subscription: subscription ? subscriptionView(subscription) : null,
      };
    });

  return {
    receipt,

    view: (sessionRef) =>
      change(async (trx) => {
        const row = await checkouts.find(trx, sessionRef);
        return row && viewOf(row);
      }),

    async useTool(sessionRef, tool, paymentRef) {
      const found = await change((trx) => checkouts.find(trx, sessionRef));
      if (!found) return undefined;
      const ofSession = (await receipt(sessionRef))!.payments.some((each) => each.paymentRef === paymentRef);
      const renewals = tool === 'renewals_pay' || tool === 'renewals_fail';
      if (renewals ? !found.subscription_ref : !ofSession) return false;
      try {
        if (renewals) await subscriptions.setCard(found.subscription_ref!, tool === 'renewals_pay');
        else if (tool === 'dispute') await payments.openDispute(paymentRef);
        else await payments.closeDispute(paymentRef, tool === 'dispute_won');
        return true;
      } catch (error) {
        // Another request used the tool first.
        if (error instanceof PaymentsError) return false;
        throw error;
      }
    },
  };
}

function subscriptionView(row: SubscriptionRow): NonNullable<ReceiptView['subscription']> {
  return {
    state: row.state,
    productName: row.product_name,
    amountMinor: row.amount_minor,
    recurring: row.recurring,
    periodEnd: row.period_end,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    cardPays: row.card_pays,
  };
}
