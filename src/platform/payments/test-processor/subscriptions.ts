import type { Knex } from 'knex';
import { PaymentsError } from '../errors.ts';
import type { Fact } from '../facts.ts';
import type { Product } from '../index.ts';
import type { CheckoutRow } from './checkout-store.ts';
import { laterThan, newRef, type Context } from './context.ts';
import { doFirstDue } from './due.ts';
import { invoiceFact, subscriptionFact } from './subscription-facts.ts';
import type { TestPayments } from './payments.ts';
import { endOfPeriod } from '../../calendar-state.ts';
import { nextRetryAt, restOf } from './period-state.ts';
import * as store from './subscription-store.ts';

type Trx = Knex.Transaction;
type Row = store.SubscriptionRow;

/** What is paid again and again. */
export interface TestSubscriptions {
  /** Begins one with a checkout that was just paid. @param cardPays whether the card pays from the second time on @returns its name */
  begin(trx: Trx, checkout: CheckoutRow, paymentRef: string, cardPays: boolean): Promise<string>;
  change(subscriptionRef: string, product: Product): Promise<void>;
  setCancellation(subscriptionRef: string, atPeriodEnd: boolean): Promise<void>;
  end(subscriptionRef: string, credit: boolean): Promise<void>;
  /** Decides whether the card pays from now on. */
  setCard(subscriptionRef: string, pays: boolean): Promise<void>;
  /** How it is now, with its last invoice, and what has become of its first and its last payment. */
  factsOf(trx: Trx, subscriptionRef: string): Promise<Fact[]>;
  /** Sees to a payment that is due. @returns whether there was one */
  doDue(): Promise<boolean>;
}

export function createTestSubscriptions(context: Context, payments: TestPayments): TestSubscriptions {
  const { clock, random, notices, change, webUrl } = context;

  async function update(trx: Trx, row: Row, changes: Partial<Row>): Promise<Row> {
    const as_of = laterThan(row.as_of, clock.now());
    const changed = await store.updateSubscription(trx, row.subscription_ref, { ...changes, as_of });
    const word = changed.state === 'ended' ? 'ended' : 'updated';
    await notices.write(trx, `subscription.${word}`, subscriptionFact(changed));
    return changed;
  }

  async function bill(
    trx: Trx,
    row: Row,
    invoice: Pick<store.InvoiceRow, 'reason' | 'state' | 'amount_minor' | 'payment_ref'>,
    period: Pick<Row, 'period_start' | 'period_end'>,
  ): Promise<void> {
    const inserted = await store.insertInvoice(trx, {
      invoice_ref: newRef(random, 'in'),
      subscription_ref: row.subscription_ref,
      currency: row.currency,
      period_start: period.period_start,
      period_end: period.period_end,
      created_at: clock.now(),
      ...invoice,
    });
    await notices.write(trx, `invoice.${inserted.state}`, invoiceFact(inserted, row, webUrl()));
  }

  /** Takes what a credit does not cover. @returns undefined when the card does not pay: then all is as before */
  async function pay(
    trx: Trx,
    row: Row,
    amountMinor: number,
  ): Promise<{ readonly amount_minor: number; readonly payment_ref: string | null } | undefined> {
    const credit = await store.lockCredit(trx, row.customer_ref, row.currency);
    const covered = Math.min(credit, amountMinor);
    const rest = amountMinor - covered;
    if (rest > 0 && !row.card_pays) return undefined;
    if (covered > 0) await store.addCredit(trx, row.customer_ref, row.currency, -covered);
    if (rest === 0) return { amount_minor: 0, payment_ref: null };
    const payment_ref = await payments.take(trx, {
      sessionRef: row.session_ref,
      amountMinor: rest,
      currency: row.currency,
      disputed: false,
    });
    return { amount_minor: rest, payment_ref };
  }

  /** The period has ended: the next one begins, or none. */
  async function renew(trx: Trx, row: Row): Promise<Row> {
    if (row.cancel_at_period_end) return update(trx, row, { state: 'ended', due_at: null });
    const period = {
      period_start: row.period_end,
      period_end: endOfPeriod(row.anchor_at, row.recurring, row.periods + 1),
      periods: row.periods + 1,
    };
    const paid = await pay(trx, row, row.amount_minor);
    if (paid) {
      await bill(trx, row, { reason: 'renewal', state: 'paid', ...paid }, period);
      return update(trx, row, { ...period, due_at: period.period_end });
    }
    const failed = { state: 'failed', amount_minor: row.amount_minor, payment_ref: null } as const;
    await bill(trx, row, { reason: 'renewal', ...failed }, period);
    const failed_at = clock.now();
    const due_at = nextRetryAt(failed_at, 0)!;
    return update(trx, row, { ...period, state: 'past_due', failed_at, retries: 0, due_at });
  }

  /** Tries the failed payment again. */
  async function retry(trx: Trx, row: Row): Promise<Row> {
    const paid = await pay(trx, row, row.amount_minor);
    const invoice = (await store.findLastInvoice(trx, row.subscription_ref))!;
    if (paid) {
      const changed = await store.updateInvoice(trx, invoice.invoice_ref, { state: 'paid', ...paid });
      await notices.write(trx, 'invoice.paid', invoiceFact(changed, row, webUrl()));
      const healthy = { state: 'active', failed_at: null, retries: 0 } as const;
      return update(trx, row, { ...healthy, due_at: row.period_end });
    }
    await notices.write(trx, 'invoice.failed', invoiceFact(invoice, row, webUrl()));
    const retries = row.retries + 1;
    const due_at = nextRetryAt(row.failed_at!, retries);
    if (due_at) return update(trx, row, { retries, due_at });
    return update(trx, row, { state: 'ended', failed_at: null, due_at: null });
  }

  /** What should have happened by now, if nobody came to it yet. */
  async function settle(trx: Trx, row: Row): Promise<Row> {
    let present = row;
    while (present.due_at && present.due_at <= clock.now()) {
      present = await (present.state === 'past_due' ? retry(trx, present) : renew(trx, present));
    }
    return present;
  }

  async function lock(trx: Trx, subscriptionRef: string): Promise<Row> {
    const row = await store.lockSubscription(trx, subscriptionRef);
    if (!row) throw new PaymentsError('not_found', 'There is no such subscription.');
    return settle(trx, row);
  }

  async function lockRunning(trx: Trx, subscriptionRef: string): Promise<Row> {
    const row = await lock(trx, subscriptionRef);
    if (row.state === 'ended') throw new PaymentsError('invalid', 'The subscription has ended.');
    return row;
  }

  return {
    async begin(trx, checkout, paymentRef, cardPays) {
      const now = clock.now();
      const end = endOfPeriod(now, checkout.recurring!, 1);
      const row: Row = {
        subscription_ref: newRef(random, 'su'),
        session_ref: checkout.session_ref,
        reference: checkout.reference,
        product_id: checkout.product_id,
        product_name: checkout.product_name,
        amount_minor: checkout.amount_minor,
        currency: checkout.currency,
        recurring: checkout.recurring!,
        customer_ref: checkout.customer_ref,
        card_pays: cardPays,
        state: 'active',
        anchor_at: now,
        periods: 1,
        period_start: now,
        period_end: end,
        cancel_at_period_end: false,
        failed_at: null,
        retries: 0,
        due_at: end,
        as_of: now,
      };
      await store.insertSubscription(trx, row);
      await notices.write(trx, 'subscription.created', subscriptionFact(row));
      const paid = { amount_minor: row.amount_minor, payment_ref: paymentRef };
      await bill(trx, row, { reason: 'first', state: 'paid', ...paid }, row);
      return row.subscription_ref;
    },

    change: (subscriptionRef, product) =>
      change(async (trx) => {
        const row = await lockRunning(trx, subscriptionRef);
        const { productId, name, amountMinor, currency, recurring } = product;
        if (recurring === null || currency !== row.currency || !(amountMinor > 0)) {
          throw new PaymentsError('invalid', 'A subscription cannot move to this product.');
        }
        const before = [row.product_id, row.amount_minor, row.recurring].join();
        if (before === [productId, amountMinor, recurring].join()) return;
        if (row.state === 'past_due') throw new PaymentsError('declined', 'The last bill is not paid.');

        const now = clock.now();
        // A period of another length begins now.
        const period =
          recurring === row.recurring
            ? { period_start: row.period_start, period_end: row.period_end }
            : { period_start: now, period_end: endOfPeriod(now, recurring, 1), anchor_at: now, periods: 1 };
        const rest = restOf(amountMinor, period, now) - restOf(row.amount_minor, row, now);
        const paid = await pay(trx, row, Math.max(0, rest));
        if (!paid) throw new PaymentsError('declined', 'The card was declined.');
        if (rest < 0) await store.addCredit(trx, row.customer_ref, currency, -rest);
        const changed = await update(trx, row, {
          product_id: productId,
          product_name: name,
          amount_minor: amountMinor,
          recurring,
          ...period,
          due_at: period.period_end,
        });
        await bill(
          trx,
          changed,
          { reason: 'change', state: 'paid', ...paid },
          { period_start: now, period_end: period.period_end },
        );
      }),

    setCancellation: (subscriptionRef, atPeriodEnd) =>
      change(async (trx) => {
        const row = await lockRunning(trx, subscriptionRef);
        if (row.cancel_at_period_end === atPeriodEnd) return;
        await update(trx, row, { cancel_at_period_end: atPeriodEnd });
      }),

    end: (subscriptionRef, credit) =>
      change(async (trx) => {
        const row = await lock(trx, subscriptionRef);
        if (row.state === 'ended') return;
        // A period that was never paid is worth nothing.
        const rest = credit && row.state === 'active' ? restOf(row.amount_minor, row, clock.now()) : 0;
        if (rest > 0) await store.addCredit(trx, row.customer_ref, row.currency, rest);
        await update(trx, row, { state: 'ended', failed_at: null, due_at: null });
      }),

    setCard: (subscriptionRef, pays) =>
      change(async (trx) => {
        const row = await lockRunning(trx, subscriptionRef);
        await store.updateSubscription(trx, row.subscription_ref, { card_pays: pays });
      }),

    async factsOf(trx, subscriptionRef) {
      const row = await lock(trx, subscriptionRef);
      const invoice = (await store.findLastInvoice(trx, subscriptionRef))!;
      const first = await store.findFirstInvoice(trx, subscriptionRef);
      const paymentRefs = [first, invoice].flatMap((each) => each?.payment_ref ?? []);
      const facts = await payments.factsOf(trx, paymentRefs);
      return [subscriptionFact(row), invoiceFact(invoice, row, webUrl()), ...facts];
    },

    doDue: () => doFirstDue(context, 'test_subscriptions', settle),
  };
}
