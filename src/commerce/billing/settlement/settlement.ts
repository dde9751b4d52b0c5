import type { IncomingHttpHeaders } from 'node:http';
import type { Knex } from 'knex';
import type { Developers } from '../../../accounts/developers/developers.ts';
import type { Plans } from '../../../accounts/plans/plans.ts';
import { ApiError } from '../../../foundation/errors/api-error.ts';
import type { Metrics } from '../../../foundation/metrics/metrics.ts';
import type { Client } from '../../../platform/address.ts';
import type { Clock } from '../../../platform/clock.ts';
import { takeAdvisoryLock } from '../../../platform/database/advisory-lock.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/logger.ts';
import {
  PaymentsError,
  type PaymentEvent,
  type PaymentFact,
  type PaymentProcessor,
} from '../../../platform/payments/index.ts';
import { callProcessor } from '../processor-errors.ts';
import * as store from '../subscription-store.ts';
import { AffectedDevelopers } from './affected-developers.ts';
import type { Entitlements } from './entitlements.ts';
import { createFactSettler } from './fact-settler.ts';
import { Mismatch } from './mismatch.ts';
import * as eventStore from './payment-event-store.ts';
import { settlementActor } from './settler.ts';

/** Settlements run one by one across all nodes: several events at once may be about the same payment. */
const LOCK = 'payments.settlement';
/** The address in the audit log for settlements that this service starts itself. */
export const OWN_ADDRESS = '127.0.0.1';
/** Longer than any processor repeats events. */
const EVENTS_KEPT_MS = 90 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;

/** The outcome of an event; `ignored` events contain nothing relevant. */
export type PaymentEventOutcome = 'applied' | 'repeated' | 'ignored' | 'refused';

/** Turns payment facts into entitlements, once, even if events are repeated, late or out of order. */
export interface Settlement {
  /**
   * Processes an event of the payment processor.
   * @param body the bytes as they were received
   * @returns `refused` when the event does not fit its purchase: another amount or currency, or an unknown
   *   purchase
   * @throws ApiError INVALID_PAYMENT_EVENT unless the processor has signed it recently, for this account
   */
  receive(body: Buffer, headers: IncomingHttpHeaders, client: Client): Promise<PaymentEventOutcome>;
  /** Settles facts of a lookup. @returns why some of them were refused */
  settle(facts: readonly PaymentFact[], address: string): Promise<readonly string[]>;
  /**
   * Suspends a subscription of a processor that is no longer configured, and so cannot be queried. It resumes
   * when that processor is configured again and confirms that the subscription runs.
   */
  suspend(subscriptionId: string, address: string): Promise<void>;
  /** Deletes a batch of events that are too old to be repeated. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly payments: PaymentProcessor;
  readonly plans: Plans;
  readonly developers: Developers;
  readonly entitlements: Entitlements;
  readonly metrics: Pick<Metrics, 'countPaymentEvent'>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createSettlement(deps: Dependencies): Settlement {
  const { knex, payments, developers, entitlements, metrics, logger, clock } = deps;
  const { processor } = payments;
  const settleFact = createFactSettler(deps);

  /** Settles all facts that fit their purchases. @returns why the others were refused */
  async function settleAll(
    trx: Knex.Transaction,
    facts: readonly PaymentFact[],
    address: string,
  ): Promise<string[]> {
    const affected = new AffectedDevelopers();
    const refused: string[] = [];
    for (const fact of facts) {
      try {
        await trx.transaction((part) => settleFact(part, fact, address, affected));
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error;
        logger.error(
          { processor, fact: fact.kind, reason: error.message },
          'a payment fact does not fit its purchase',
        );
        refused.push(error.message);
      }
    }
    // Last, because creating an application or licenses waits for the lock of the developer.
    for (const { actor, hasPlan, customerRef } of affected.all()) {
      if (hasPlan) await entitlements.settlePlan(trx, actor);
      if (customerRef !== null) await developers.setCustomer(trx, actor.developerId, customerRef);
    }
    return refused;
  }

  /** Settles an event, once. */
  async function take({ eventId, type, facts }: PaymentEvent, address: string): Promise<PaymentEventOutcome> {
    return knex.transaction(async (trx) => {
      await takeAdvisoryLock(trx, LOCK);
      if (await eventStore.isKnown(trx, processor, eventId)) return 'repeated';
      const refused = await settleAll(trx, facts, address);
      const outcome = refused.length > 0 ? 'refused' : 'applied';
      await eventStore.insertEvent(trx, {
        processor,
        notice_id: eventId,
        type,
        outcome,
        detail: refused.length > 0 ? refused.join('; ') : null,
        received_at: clock.now(),
      });
      return outcome;
    });
  }

  async function read(body: Buffer, headers: IncomingHttpHeaders): Promise<PaymentEvent | undefined> {
    try {
      return await callProcessor(() => payments.readEvent(body, headers));
    } catch (error) {
      if (!(error instanceof PaymentsError)) throw error;
      logger.warn({ processor, fault: error.fault }, 'a payment event was refused');
      metrics.countPaymentEvent('invalid');
      throw new ApiError('INVALID_PAYMENT_EVENT', { cause: error });
    }
  }

  return {
    async receive(body, headers, { address }) {
      const event = await read(body, headers);
      const outcome = event ? await take(event, address) : 'ignored';
      metrics.countPaymentEvent(outcome);
      return outcome;
    },

    async settle(facts, address) {
      return knex.transaction(async (trx) => {
        await takeAdvisoryLock(trx, LOCK);
        return settleAll(trx, facts, address);
      });
    },

    async suspend(subscriptionId, address) {
      await knex.transaction(async (trx) => {
        await takeAdvisoryLock(trx, LOCK);
        const row = (await store.findSubscription(trx, subscriptionId))!;
        if (row.processor === processor || row.state === 'ended') return;
        await store.updateSubscription(trx, subscriptionId, { state: 'pending' });
        await entitlements.settlePlan(trx, settlementActor(processor, row, address));
      });
    },

    clearExpired: () =>
      eventStore.deleteOldEvents(knex, new Date(clock.now().getTime() - EVENTS_KEPT_MS), CLEARED_AT_ONCE),
  };
}
