import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { PaymentsError, type PaymentProcessor } from '../../platform/payments/index.ts';
import { isRowFault } from '../../platform/row-fault.ts';
import type { Period, PlanRow, Plans } from '../../accounts/plans/plans.ts';
import { toProduct } from './product.ts';
import { assertPayable, callProcessor } from './processor-errors.ts';
import { OWN_ADDRESS, type Settlement } from './settlement/settlement.ts';
import * as store from './subscription-store.ts';
import type { SubscriptionRow } from './subscription-store.ts';

/** The paid plan that a developer is on. */
export interface PlanSubscription {
  readonly subscriptionId: string;
  readonly planId: string;
  readonly planName: string;
  readonly period: 'monthly' | 'yearly' | 'lifetime';
  /** `past_due`: the payment of a renewal has failed and is retried. */
  readonly state: 'active' | 'past_due';
  /** The end of the paid period; null for a lifetime. */
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
  /** The subscription that the developer's plan follows from; undefined on the free plan. */
  inForce(db: Knex, developerId: string): Promise<SubscriptionRow | undefined>;
  /** @throws ApiError SUBSCRIPTION_NOT_FOUND on the free plan */
  get(developerId: string): Promise<PlanSubscription>;
  /**
   * Moves a running subscription to another plan, or cancels it at the end of its period. The processor takes
   * or credits the difference. The plan changes when the processor's event confirms it, which may be before
   * this returns.
   * @throws ApiError SUBSCRIPTION_NOT_FOUND without a subscription that is paid by the period;
   *   PLAN_NOT_FOUND, PLAN_NOT_APPLICABLE, PAYMENT_DECLINED; SERVICE_UNAVAILABLE while the processor cannot
   *   be reached
   */
  change(actor: Actor, changes: SubscriptionChanges): Promise<PlanSubscription>;
  /**
   * Ends a batch of subscriptions at the processor that no longer give the developer anything.
   * @returns how many
   */
  endUnwanted(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly plans: Plans;
  readonly payments: PaymentProcessor;
  readonly settlement: Pick<Settlement, 'settle'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly logger: Logger;
}

const AT_ONCE = 10;
/** How long until a failed request to the processor is retried. */
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

  /** The plan of a name; without a period, the one with the period of the present plan if there is one. */
  async function target(
    name: string,
    period: 'monthly' | 'yearly' | undefined,
    present: Period,
  ): Promise<PlanRow> {
    if (period === undefined && present !== 'lifetime') {
      const same = await plans.findForSale(knex, name, present).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'PLAN_NOT_FOUND') return undefined;
        throw error;
      });
      if (same) return same;
    }
    return plans.findForSale(knex, name, period);
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
            'A subscription can only change to a monthly or yearly plan. Buy other plans with a checkout.',
          );
        }
        if (plan.price_minor === 0) throw refuse('The plan costs nothing. Cancel the subscription instead.');
        if (plan.currency !== present.currency) throw refuse('The plan is in another currency.');
        assertPayable(payments, plan);
        // While a change is pending, the recorded plan may be out of date.
        if (plan.plan_id !== row.plan_id || row.change_asked_at !== null) {
          await store.updateSubscription(knex, row.subscription_id, { change_asked_at: clock.now() });
          await callProcessor(() => payments.changeSubscription(ref, toProduct(plan)));
        }
        data['plan_id'] = plan.plan_id;
      }
      if (cancelAtPeriodEnd !== undefined) {
        await callProcessor(() => payments.setCancellation(ref, cancelAtPeriodEnd));
        // Recorded before the event confirms it: this grants and takes nothing.
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
      const triedBefore = new Date(now.getTime() - AGAIN_MS);
      const due = await store.listEndWanted(knex, payments.processor, triedBefore, AT_ONCE);
      for (const { subscription_id, subscription_ref } of due) {
        // Before the call: a subscription that cannot be ended must not delay the others.
        await store.updateSubscription(knex, subscription_id, { looked_up_at: now });
        try {
          await payments.endSubscription(subscription_ref!, false);
          // The event may get lost, and reconciliation skips subscriptions that were just looked up.
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
