import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { PlanLimits } from '../plans/plan-state.ts';
import * as store from './developer-store.ts';
import * as quotaStore from './quota-store.ts';

/** What developers' plans and packs allow. */
export interface Quotas {
  /** Counts one more application, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void>;
  returnApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void>;
  /**
   * Counts new license keys, inside the caller's transaction. Call it last: other transactions that create
   * keys for the same developer wait for it.
   * @throws ApiError QUOTA_EXCEEDED when the keys exceed what plan and packs allow
   */
  takeLicenses(trx: Knex.Transaction, developerId: string, amount: number): Promise<void>;
  /**
   * Moves the actor's developer to another plan, inside the caller's transaction. Its quotas apply
   * immediately.
   * @param lapsedAt when the previous plan ended without a paid successor
   */
  changePlan(trx: Knex.Transaction, actor: Actor, planId: string, lapsedAt: Date | null): Promise<void>;
  /** The plan that the developer is on. */
  planOf(db: Knex, developerId: string): Promise<string>;
  /** What that plan allows; undefined when there is no such developer. */
  planLimitsOf(db: Knex, developerId: string): Promise<PlanLimits | undefined>;
  /** Adds license keys to the developer's packs, or removes some, inside the caller's transaction. */
  movePacks(trx: Knex.Transaction, developerId: string, amount: number): Promise<void>;
  /** Records the payment processor's identifier of the developer. */
  setCustomer(trx: Knex.Transaction, developerId: string, customerRef: string): Promise<void>;
}

interface Dependencies {
  readonly audit: Audit;
}

export function createQuotas({ audit }: Dependencies): Quotas {
  return {
    async takeApplicationSeat(trx, developerId) {
      if (await quotaStore.takeApplicationSeat(trx, developerId)) return;
      throw new ApiError('QUOTA_EXCEEDED', { detail: 'Your plan does not allow another application.' });
    },

    returnApplicationSeat: (trx, developerId) => store.returnApplicationSeat(trx, developerId),

    async takeLicenses(trx, developerId, amount) {
      if ((await quotaStore.findLicenseLimit(trx, developerId)) === null) return;
      if (await quotaStore.takeLicenses(trx, developerId, amount)) return;
      throw new ApiError('QUOTA_EXCEEDED', {
        detail: `The developer's plan does not allow ${amount} more license keys.`,
      });
    },

    async changePlan(trx, actor, planId, lapsedAt) {
      const { developerId } = actor;
      const from = await store.findPlanId(trx, developerId);
      await store.updateDeveloper(trx, developerId, { plan_id: planId, plan_lapsed_at: lapsedAt });
      const data = { from, to: planId };
      await audit.record(trx, actor, { action: 'developer.plan_changed', target: developerId, data });
    },

    planOf: store.findPlanId,

    planLimitsOf: quotaStore.findPlanLimits,

    movePacks: store.movePacks,

    setCustomer: (trx, developerId, customerRef) =>
      store.updateDeveloper(trx, developerId, { customer_ref: customerRef }),
  };
}
