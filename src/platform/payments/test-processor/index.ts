import type { Knex } from 'knex';
import { isUnavailable } from '../../database/index.ts';
import { startPeriodicTask, type PeriodicTask } from '../../periodic-task.ts';
import { PaymentsError, PaymentsUnavailableError } from '../errors.ts';
import type { PaymentProcessor } from '../processor.ts';
import type { CheckoutPage } from './checkout-page.ts';
import { createTestCharges } from './charges.ts';
import { createTestCheckouts } from './checkouts.ts';
import type { Context } from './context.ts';
import { countSetAside } from './due-store.ts';
import { createProcessorEvents, type ProcessorEvents } from './events.ts';
import type { TestProcessorOptions } from './options.ts';
import { createTestPayments } from './payments.ts';
import { createReceipts } from './receipts.ts';
import { createTestSubscriptions } from './subscriptions.ts';

export type { CheckoutPage } from './checkout-page.ts';
export type { TestProcessorOptions } from './options.ts';

/** How many due rows of a table are processed before the next table and the events. */
const CHANGES_PER_ROUND = 50;

/** Events are sent right after the commit; only rows that come due and retries wait for this interval. */
const PAUSE_MS = 5_000;

/** A payment processor that moves no money. It runs in the service, but acts as a separate party. */
export interface TestProcessor extends PaymentProcessor {
  readonly processor: 'test';
  readonly page: CheckoutPage;
  /** Processes some due rows and sends some due events. @returns whether there may be more */
  work(signal?: AbortSignal): Promise<boolean>;
  /** The payer's bank reverses a payment until its decision. */
  openDispute(paymentRef: string): Promise<void>;
  /** The payer's bank decides about a payment. @param won whether the shop keeps the money */
  closeDispute(paymentRef: string, won: boolean): Promise<void>;
  /** Sets whether the card of a subscription pays its next payments. */
  setCard(subscriptionRef: string, pays: boolean): Promise<void>;
}

/** Any number of processes may open it on one database: they share its tables and its work. */
export function openTestProcessor(options: TestProcessorOptions): TestProcessor {
  const { knex, logger, webUrl, processorPauseMs: pauseMs = PAUSE_MS } = options;
  const withEvents = new WeakSet<Knex.Transaction>();
  const { write, ...others } = createProcessorEvents(options);
  const events: ProcessorEvents = {
    ...others,
    async write(trx, type, fact) {
      withEvents.add(trx);
      await write(trx, type, fact);
    },
  };
  let running: PeriodicTask | undefined;

  const context: Context = {
    ...options,
    events,
    async change(work) {
      let wroteEvent = false;
      try {
        return await knex.transaction(async (trx) => {
          const result = await work(trx);
          wroteEvent = withEvents.has(trx);
          return result;
        });
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        throw new PaymentsUnavailableError('The tables of the test processor cannot be reached.', {
          cause: error,
        });
      } finally {
        // Only after an event: the task itself calls `change`, and would wake itself again and again.
        if (wroteEvent) running?.wake();
      }
    },
  };
  const charges = createTestCharges(context);
  const payments = createTestPayments(context);
  const subscriptions = createTestSubscriptions(context, payments);
  const checkouts = createTestCheckouts(context, payments, subscriptions);
  const receipts = createReceipts(context, { payments, subscriptions, checkouts });

  async function work(signal = new AbortController().signal): Promise<boolean> {
    let more = false;
    try {
      for (const { doDue } of [checkouts, subscriptions, payments]) {
        let count = 0;
        while (count < CHANGES_PER_ROUND && !signal.aborted && (await doDue())) count += 1;
        more ||= count === CHANGES_PER_ROUND;
      }
    } finally {
      // Events are sent even if a row failed.
      if (!signal.aborted) more = (await events.send(signal)) || more;
    }
    return more && !signal.aborted;
  }

  return {
    processor: 'test',
    amountFault: () => undefined,
    page: { webUrl, pay: checkouts.pay, authenticate: checkouts.authenticate, ...receipts },
    work,
    openDispute: payments.openDispute,
    closeDispute: payments.closeDispute,
    setCard: subscriptions.setCard,

    openCheckout: checkouts.open,
    readEvent: async (body, headers) => events.read(body, headers),
    lookUpCheckout: (sessionRef) =>
      context.change(async (trx) => {
        const row = await checkouts.find(trx, sessionRef);
        if (!row) throw new PaymentsError('not_found', 'The checkout does not exist.');
        const facts = row.subscription_ref
          ? await subscriptions.factsOf(trx, row.subscription_ref)
          : row.payment_ref
            ? await payments.factsOf(trx, [row.payment_ref])
            : [];
        return [checkouts.factOf(row), ...facts];
      }),
    lookUpSubscription: (subscriptionRef) =>
      context.change((trx) => subscriptions.factsOf(trx, subscriptionRef)),
    changeSubscription: subscriptions.change,
    setCancellation: subscriptions.setCancellation,
    endSubscription: subscriptions.end,
    refund: payments.refund,
    charge: charges.charge,
    clearExpired: checkouts.clearUnpaid,
    setAside: () => countSetAside(knex),

    async start() {
      const ending = new AbortController();
      running = startPeriodicTask(
        () => work(ending.signal),
        (error) => {
          const lost = error instanceof PaymentsUnavailableError || isUnavailable(error);
          if (lost) logger.debug({ err: error }, 'the test processor waits for the database');
          else logger.error({ err: error }, 'the test processor failed');
        },
        { intervalMs: pauseMs },
      );
      return {
        async stop() {
          ending.abort();
          await running?.stop();
          running = undefined;
        },
      };
    },
  };
}
