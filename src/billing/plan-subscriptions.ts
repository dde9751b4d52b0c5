import type { Knex } from 'knex';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { PaymentsError, type Payments } from '../platform/payments/index.ts';
import { isRowFault } from '../platform/row-fault.ts';
import type { Period, PlanRow, Plans } from '../plans/plans.ts';
import { toProduct } from './product.ts';
import { assertPayable, talkTo } from './processor-faults.ts';
import { OWN_ADDRESS, type Settlement } from './settlement.ts';
import * as store from './subscription-store.ts';
import type { SubscriptionRow } from './subscription-store.ts';

/** A plan that a developer has paid for, and is on. */
export interface PlanSubscription {
  readonly subscriptionId: string;
  readonly planId: string;
  readonly planName: string;
  readonly period: 'monthly' | 'yearly' | 'lifetime';
  /** `past_due`: a renewal could not be taken and is tried again. */
  readonly state: 'active' | 'past_due';
  /** Of the period that is paid; null for ever. */
  readonly periodEnd: Date | null;
  readonly cancelAtPeriodEnd: boolean;
  readonly createdAt: Date;
}

export interface SubscriptionChanges {
  /** The name or the id of a plan to move to now. */
  readonly planName?: string | undefined;
  readonly period?: 'monthly' | 'yearly' | undefined;
  readonly cancelAtPeriodEnd?: boolean | undefined;
}

/** The plans that developers have paid for. */
export interface PlanSubscriptions {
  /** What the developer's plan follows from; undefined on the free one. */
  inForce(db: Knex, developerId: string): Promise<SubscriptionRow | undefined>;
  /** @throws ApiError SUBSCRIPTION_NOT_FOUND on the free plan */
  get(developerId: string): Promise<PlanSubscription>;
  /**
   * Moves a running subscription to another plan, or lets it end with its period. The processor takes or credits the difference;
   * the plan changes when its notice says so, which may be before this returns.
   * @throws ApiError SUBSCRIPTION_NOT_FOUND when there is none that is paid by the period; PLAN_NOT_FOUND, PLAN_NOT_APPLICABLE,
   *   PAYMENT_DECLINED; SERVICE_UNAVAILABLE while the processor cannot be reached
   */
  change(actor: Actor, changes: SubscriptionChanges): Promise<PlanSubscription>;
  /** Tells the processor to end some subscriptions that are paid for nothing. @returns how many */
  endUnwanted(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly plans: Plans;
  readonly payments: Payments;
  readonly settlement: Pick<Settlement, 'settle'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly logger: Logger;
}

const AT_ONCE = 10;
/** How long it waits before the processor is asked again for what did not work. */
const AGAIN_MS = 60_000;

export function createPlanSubscriptions(deps: Dependencies): PlanSubscriptions {
  const { knex, plans, payments, settlement, audit, clock, logger } = deps;

  async function inForce(db: Knex, developerId: string): Promise<SubscriptionRow | undefined> {
    const [current] = await store.listInForce(db, developerId);
    return current;
  }

  async function show(row: SubscriptionRow | undefined): Promise<PlanSubscription> {
    if (!row) throw new ApiError('SUBSCRIPTION_NOT_FOUND');
    const plan = (await plans.find(knex, row.plan_id))!;
    return {
      subscriptionId: row.subscription_id,
      planId: plan.plan_id,
      planName: plan.name,
      period: plan.period,
      state: row.state === 'past_due' ? 'past_due' : 'active',
      periodEnd: row.period_end,
      cancelAtPeriodEnd: row.cancel_at_period_end,
      createdAt: row.created_at,
    };
  }

  /** The plan of a name, paid as the present one unless told. */
  async function target(
    name: string,
    period: 'monthly' | 'yearly' | undefined,
    present: Period,
  ): Promise<PlanRow> {
    if (period === undefined && present !== 'lifetime') {
      const same = await plans.forSale(knex, name, present).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'PLAN_NOT_FOUND') return undefined;
        throw error;
      });
      if (same) return same;
    }
    return plans.forSale(knex, name, period);
  }

  return {
    inForce,

    get: async (developerId) => show(await inForce(knex, developerId)),

    async change(actor, { planName, period, cancelAtPeriodEnd }) {
      const { developerId } = actor;
      const row = await inForce(knex, developerId);
      const ref = row?.subscription_ref;
      if (!ref || row.processor !== payments.processor) throw new ApiError('SUBSCRIPTION_NOT_FOUND');
      const data: Record<string, unknown> = {};
      if (planName !== undefined || period !== undefined) {
        const present = (await plans.find(knex, row.plan_id))!;
        const plan = await target(planName ?? present.name, period, present.period);
        const refuse = (detail: string) => new ApiError('PLAN_NOT_APPLICABLE', { detail });
        if (plan.kind !== 'subscription' || plan.period === 'lifetime') {
          throw refuse(
            'A subscription moves to plans that are paid by the month or the year; buy others with a checkout.',
          );
        }
        if (plan.price_minor === 0) throw refuse('The plan costs nothing: cancel the subscription instead.');
        if (plan.currency !== present.currency) throw refuse('The plan is in another currency.');
        assertPayable(payments, plan);
        // While a change is under way, what is known of the plan says nothing.
        if (plan.plan_id !== row.plan_id || row.change_asked_at !== null) {
          await store.updateSubscription(knex, row.subscription_id, { change_asked_at: clock.now() });
          await talkTo(() => payments.changeSubscription(ref, toProduct(plan)));
        }
        data['plan_id'] = plan.plan_id;
      }
      if (cancelAtPeriodEnd !== undefined) {
        await talkTo(() => payments.setCancellation(ref, cancelAtPeriodEnd));
        // Nothing is gained or lost by knowing it before the notice comes.
        await store.updateSubscription(knex, row.subscription_id, {
          cancel_at_period_end: cancelAtPeriodEnd,
        });
        data['cancel_at_period_end'] = cancelAtPeriodEnd;
      }
      if (Object.keys(data).length > 0) {
        await knex.transaction((trx) =>
          audit.record(trx, actor, { action: 'subscription.changed', target: row.subscription_id, data }),
        );
      }
      return show(await store.findSubscription(knex, row.subscription_id));
    },

    async endUnwanted() {
      const now = clock.now();
      const askedBefore = new Date(now.getTime() - AGAIN_MS);
      const due = await store.listEndWanted(knex, payments.processor, askedBefore, AT_ONCE);
      for (const { subscription_id, subscription_ref } of due) {
        // Before the processor is asked: what cannot be ended must not keep the others waiting.
        await store.updateSubscription(knex, subscription_id, { looked_up_at: now });
        try {
          await payments.endSubscription(subscription_ref!, false);
          // The notice of it may be lost, and nobody looks up what is looked at every minute.
          await settlement.settle(await payments.lookUpSubscription(subscription_ref!), OWN_ADDRESS);
        } catch (error) {
          if (!(error instanceof PaymentsError) && !isRowFault(error)) throw error;
          logger.error({ subscription_id, err: error }, 'a subscription cannot be ended');
        }
      }
      return due.length;
    },
  };
}
