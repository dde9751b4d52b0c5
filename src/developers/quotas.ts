import type { Knex } from 'knex';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import * as store from './developer-store.ts';

/** What developers' plans and packs have room for. */
export interface Quotas {
  /** Counts one more application, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void>;
  returnApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void>;
  /**
   * Counts licence keys that are made, inside the caller's transaction, whose last deed it should be: whoever makes keys for the
   * same developer waits for it.
   * @throws ApiError QUOTA_EXCEEDED when the plan and packs have no room for all of them
   */
  takeLicenses(trx: Knex.Transaction, developerId: string, amount: number): Promise<void>;
  /**
   * Puts the actor's developer on another plan, inside the caller's transaction: its quotas hold at once.
   * @param lapsedAt when the plan before ended without another one that was paid
   */
  changePlan(trx: Knex.Transaction, actor: Actor, planId: string, lapsedAt: Date | null): Promise<void>;
  /** The plan that he is on. */
  planOf(db: Knex, developerId: string): Promise<string>;
  /** Adds licences to his packs, or takes some away, inside the caller's transaction. */
  movePacks(trx: Knex.Transaction, developerId: string, amount: number): Promise<void>;
  /** Notes the payment processor's name of him. */
  noteCustomer(trx: Knex.Transaction, developerId: string, customerRef: string): Promise<void>;
}

interface Dependencies {
  readonly audit: Audit;
}

export function createQuotas({ audit }: Dependencies): Quotas {
  return {
    async takeApplicationSeat(trx, developerId) {
      if (await store.takeApplicationSeat(trx, developerId)) return;
      throw new ApiError('QUOTA_EXCEEDED', { detail: 'Your plan has no room for another application.' });
    },

    returnApplicationSeat: (trx, developerId) => store.returnApplicationSeat(trx, developerId),

    async takeLicenses(trx, developerId, amount) {
      if ((await store.findLicenseLimit(trx, developerId)) === null) return;
      if (await store.takeLicenses(trx, developerId, amount)) return;
      throw new ApiError('QUOTA_EXCEEDED', {
        detail: `The developer's plan has no room for ${amount} more licence keys.`,
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

    movePacks: store.movePacks,

    noteCustomer: (trx, developerId, customerRef) =>
      store.updateDeveloper(trx, developerId, { customer_ref: customerRef }),
  };
}
