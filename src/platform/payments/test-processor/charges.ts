import { hash } from 'node:crypto';
import type { Charge, ChargeRequest } from '../charge.ts';
import { PaymentsError } from '../errors.ts';
import type { Context } from './context.ts';
import * as store from './payment-store.ts';
import { newRef } from './reference.ts';

const LARGEST_CHARGE = /^[1-9][0-9]{0,14}$/;

/** Machine payments with a token. */
export interface TestCharges {
  charge(request: ChargeRequest): Promise<Charge>;
}

export function createTestCharges({ clock, random, change }: Context): TestCharges {
  return {
    charge: ({ key, token, amount, currency }) =>
      change(async (trx) => {
        if (!LARGEST_CHARGE.test(amount)) {
          throw new PaymentsError('invalid', 'The amount is not a whole number of base units.');
        }
        if (!/^spt_test_./.test(token) || token.startsWith('spt_test_declined')) {
          throw new PaymentsError('declined', 'The token was declined.');
        }
        const charge = {
          payment_ref: newRef(random, 'pi'),
          charge_key: key,
          token_digest: hash('sha256', token, 'buffer'),
          amount_minor: Number(amount),
          currency,
          paid_at: clock.now(),
        };
        if (await store.insertCharge(trx, charge)) {
          return { paymentRef: charge.payment_ref, paidAt: charge.paid_at };
        }
        const before = await store.findCharge(trx, key);
        if (!before) throw new PaymentsError('declined', 'The token was used already.');
        if (before.amount_minor !== charge.amount_minor || before.currency !== currency) {
          throw new PaymentsError('invalid', 'A different payment was charged with this key.');
        }
        return { paymentRef: before.payment_ref, paidAt: before.paid_at };
      }),
  };
}
