import type { Knex } from 'knex';
import { isInForce } from './billing-state.ts';

export interface SubscriptionRow {
  readonly subscription_id: string;
  readonly developer_id: string;
  readonly checkout_id: string;
  readonly plan_id: string;
  readonly processor: string;
  /** Null for a lifetime, which is paid once. */
  readonly subscription_ref: string | null;
  readonly state: 'pending' | 'active' | 'past_due' | 'ended';
  readonly paid: boolean;
  readonly reversed: boolean;
  readonly period_end: Date | null;
  readonly cancel_at_period_end: boolean;
  readonly as_of: Date | null;
  readonly end_wanted: boolean;
  readonly change_asked_at: Date | null;
  readonly looked_up_at: Date;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

/** The subscription of a checkout, inserted if missing. */
export async function ensureSubscription(
  trx: Knex.Transaction,
  row: SubscriptionRow,
): Promise<SubscriptionRow> {
  await trx('plan_subscriptions').insert(row).onConflict('checkout_id').ignore();
  const found = await trx<SubscriptionRow>('plan_subscriptions')
    .where({ checkout_id: row.checkout_id })
    .first();
  return found!;
}

export async function updateSubscription(
  db: Knex,
  subscriptionId: string,
  changes: Partial<SubscriptionRow>,
): Promise<void> {
  await db('plan_subscriptions').where({ subscription_id: subscriptionId }).update(changes);
}

export async function findSubscription(
  db: Knex,
  subscriptionId: string,
): Promise<SubscriptionRow | undefined> {
  return db<SubscriptionRow>('plan_subscriptions').where({ subscription_id: subscriptionId }).first();
}

/** The subscriptions in force, newest first. */
export async function listInForce(db: Knex, developerId: string): Promise<SubscriptionRow[]> {
  const live = await db<SubscriptionRow>('plan_subscriptions')
    .where({ developer_id: developerId })
    .where('state', '<>', 'ended')
    .orderBy('subscription_id', 'desc');
  return live.filter(isInForce);
}

/**
 * Subscriptions whose paid period ended before one time, or whose change was requested before another and is
 * not confirmed, and which have not been looked up since.
 */
export async function listOverdue(
  db: Knex,
  endedBefore: Date,
  requestedBefore: Date,
  limit: number,
): Promise<SubscriptionRow[]> {
  return db<SubscriptionRow>('plan_subscriptions')
    .whereIn('state', ['pending', 'active', 'past_due'])
    .whereNotNull('subscription_ref')
    .whereRaw(
      `((period_end < :endedBefore and looked_up_at < :endedBefore)
        or (change_asked_at < :requestedBefore and looked_up_at < :requestedBefore))`,
      { endedBefore, requestedBefore },
    )
    .orderBy('looked_up_at')
    .limit(limit);
}

/** Subscriptions that must be ended at the processor. */
export async function listEndWanted(
  db: Knex,
  processor: string,
  lookedUpBefore: Date,
  limit: number,
): Promise<SubscriptionRow[]> {
  return db<SubscriptionRow>('plan_subscriptions')
    .where({ processor, end_wanted: true })
    .whereNotNull('subscription_ref')
    .where('state', '<>', 'ended')
    .where('looked_up_at', '<', lookedUpBefore)
    .orderBy('looked_up_at')
    .limit(limit);
}
