import type { Knex } from 'knex';
import { PaymentsError } from '../errors.ts';
import type { PaymentFact } from '../payment-fact.ts';
import { nextAsOf } from './as-of.ts';
import type { Context } from './context.ts';
import { doFirstDue } from './due-rows.ts';
import * as store from './payment-store.ts';
import { newRef } from './reference.ts';

const DISPUTED_AFTER_MS = 5_000;

/** Payments with their refunds and disputes. */
export interface TestPayments {
  /** Charges a card. @param disputed whether the payer's bank opens a dispute shortly afterwards */
  take(
    trx: Knex.Transaction,
    payment: {
      readonly sessionRef: string;
      readonly amountMinor: number;
      readonly currency: string;
      readonly disputed: boolean;
    },
  ): Promise<string>;
  refund(paymentRef: string, amountMinor: number | undefined, key: string): Promise<void>;
  /** The payer's bank reverses a payment until its decision. */
  openDispute(paymentRef: string): Promise<void>;
  /** The payer's bank decides. @param won whether the shop keeps the money */
  closeDispute(paymentRef: string, won: boolean): Promise<void>;
  /** The refunds and disputes of payments. */
  factsOf(trx: Knex.Transaction, paymentRefs: readonly string[]): Promise<PaymentFact[]>;
  /** Opens a dispute that is due. @returns whether there was one */
  doDue(): Promise<boolean>;
}

export function createTestPayments(context: Context): TestPayments {
  const { clock, random, events, change } = context;

  async function lockForUpdate(trx: Knex.Transaction, paymentRef: string): Promise<store.PaymentRow> {
    const row = await store.lockPaymentForUpdate(trx, paymentRef);
    if (!row) throw new PaymentsError('not_found', 'The payment does not exist.');
    return row;
  }

  async function setDispute(
    trx: Knex.Transaction,
    row: store.PaymentRow,
    dispute: 'open' | 'won' | 'lost',
  ): Promise<void> {
    const dispute_as_of = nextAsOf(row.dispute_as_of, clock.now());
    const changed = await store.updatePayment(trx, row.payment_ref, { dispute, dispute_as_of, due_at: null });
    await events.write(trx, `dispute.${dispute}`, disputeFact(changed));
  }

  return {
    async take(trx, { sessionRef, amountMinor, currency, disputed }) {
      const now = clock.now();
      const paymentRef = newRef(random, 'pi');
      await store.insertPayment(trx, {
        payment_ref: paymentRef,
        session_ref: sessionRef,
        amount_minor: amountMinor,
        currency,
        due_at: disputed ? new Date(now.getTime() + DISPUTED_AFTER_MS) : null,
        paid_at: now,
      });
      return paymentRef;
    },

    refund: (paymentRef, amountMinor, key) =>
      change(async (trx) => {
        const row = await lockForUpdate(trx, paymentRef);
        const before = await store.findRefund(trx, key);
        if (before) {
          const same =
            before.payment_ref === paymentRef && before.amount_minor === (amountMinor ?? before.amount_minor);
          if (!same) throw otherRefund();
          return;
        }
        if (row.dispute === 'open' || row.dispute === 'lost') {
          throw new PaymentsError('declined', "The payer's bank has reversed the payment.");
        }
        const left = row.amount_minor - row.refunded_minor;
        const amount = amountMinor ?? left;
        if (!Number.isSafeInteger(amount) || amount < 0 || amountMinor === 0) {
          throw new PaymentsError('invalid', 'The amount is not a whole number of minor units above 0.');
        }
        if (amount > left || left === 0) {
          throw new PaymentsError('declined', 'The refund exceeds the remaining amount of the payment.');
        }
        const refund = {
          refund_key: key,
          payment_ref: paymentRef,
          amount_minor: amount,
          created_at: clock.now(),
        };
        if (!(await store.insertRefund(trx, refund))) throw otherRefund();
        const refunded = row.refunded_minor + amount;
        const changed = await store.updatePayment(trx, paymentRef, { refunded_minor: refunded });
        await events.write(trx, 'payment.refunded', refundFact(changed));
      }),

    openDispute: (paymentRef) =>
      change(async (trx) => {
        const row = await lockForUpdate(trx, paymentRef);
        if (row.dispute !== null) throw new PaymentsError('invalid', 'The payment is or was disputed.');
        if (row.refunded_minor === row.amount_minor) {
          throw new PaymentsError('invalid', 'The payment was fully refunded.');
        }
        await setDispute(trx, row, 'open');
      }),

    closeDispute: (paymentRef, won) =>
      change(async (trx) => {
        const row = await lockForUpdate(trx, paymentRef);
        if (row.dispute !== 'open') throw new PaymentsError('invalid', 'The payment is not disputed.');
        await setDispute(trx, row, won ? 'won' : 'lost');
      }),

    async factsOf(trx, paymentRefs) {
      const rows = await store.findPayments(trx, paymentRefs);
      return rows.flatMap((row) => [
        ...(row.refunded_minor > 0 ? [refundFact(row)] : []),
        ...(row.dispute !== null ? [disputeFact(row)] : []),
      ]);
    },

    doDue: () =>
      doFirstDue<store.PaymentRow>(context, 'test_payments', async (trx, row) => {
        // A fully refunded payment cannot be disputed.
        if (row.refunded_minor < row.amount_minor) await setDispute(trx, row, 'open');
        else await store.updatePayment(trx, row.payment_ref, { due_at: null });
      }),
  };
}

const otherRefund = () => new PaymentsError('invalid', 'A different refund was made with this key.');

function refundFact({ payment_ref, refunded_minor, currency }: store.PaymentRow): PaymentFact {
  return { kind: 'refund', paymentRef: payment_ref, refundedMinor: refunded_minor, currency };
}

function disputeFact({ payment_ref, dispute, dispute_as_of }: store.PaymentRow): PaymentFact {
  return { kind: 'dispute', paymentRef: payment_ref, state: dispute!, asOf: dispute_as_of! };
}
