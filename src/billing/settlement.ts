import type { IncomingHttpHeaders } from 'node:http';
import type { Knex } from 'knex';
import type { Developers } from '../developers/developers.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import { lockExclusive } from '../platform/database/advisory-lock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { PaymentsError, type Fact, type Notice, type Payments } from '../platform/payments/index.ts';
import type { Plans } from '../plans/plans.ts';
import { Concerned } from './concerned.ts';
import type { Entitlements } from './entitlements.ts';
import { createFactSettler, Mismatch, settlerOf } from './fact-settler.ts';
import * as noticeStore from './notice-store.ts';
import { talkTo } from './processor-faults.ts';
import * as store from './subscription-store.ts';

/** Settlements run one by one, on all nodes: facts about one payment may come from several messages at once. */
const LOCK = 'payments.settlement';
/** Where settlements come from that this service begins of its own accord. */
export const OWN_ADDRESS = '127.0.0.1';
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

export function createSettlement(deps: Dependencies): Settlement {
  const { knex, payments, developers, entitlements, metrics, logger, clock } = deps;
  const { processor } = payments;
  const settleFact = createFactSettler(deps);

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
        await trx.transaction((part) => settleFact(part, fact, address, concerned));
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
        await entitlements.settlePlan(trx, settlerOf(processor, row, address));
      });
    },

    clearExpired: () =>
      noticeStore.clearNotices(knex, new Date(clock.now().getTime() - NOTICES_KEPT_MS), CLEARED_AT_ONCE),
  };
}
