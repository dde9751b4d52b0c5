import type { Knex } from 'knex';
import { subscriptionClock, toWallTime, type Pause } from '../../accounts/applications/application-state.ts';
import { addGrant, inForce, timeLeft, type SubscriptionPeriod } from './subscription-state.ts';
import { findTimelines, replaceTimelines } from './subscription-store.ts';

/** The user whose subscription is extended. */
export interface Extension {
  readonly userId: string;
  /** Undefined for the user's tier in force. */
  readonly tier?: string | undefined;
}

/** The result of an extension. */
export interface Extended {
  readonly userId: string;
  readonly tier: string;
  /** When that tier ends, in wall time. */
  readonly expiresAt: Date;
}

/** The added time. */
interface More {
  /** Days of 24 hours; null is a lifetime. */
  readonly durationDays: number | null;
  /** Whether a tier that has ended, or that the user never had, begins now; otherwise it is skipped. */
  readonly revive: boolean;
}

/**
 * Extends many users' subscriptions as a license key does, in a few statements for all of them. The caller has locked
 * their rows.
 * @param extensions at most a thousand, each user and tier once
 * @returns those that were extended; the others hold a lifetime of the tier or of a higher one, would reach past year
 *   9999, or have no tier in force where none was named
 */
export async function extendSubscriptions(
  trx: Knex.Transaction,
  extensions: readonly Extension[],
  { durationDays, revive }: More,
  application: Pause & { readonly tiers: readonly string[] },
  now: Date,
): Promise<Extended[]> {
  const clock = subscriptionClock(application, now);
  const before = await findTimelines(trx, [...new Set(extensions.map(({ userId }) => userId))]);
  const after = new Map<string, readonly SubscriptionPeriod[]>();
  const endOf = (userId: string, wanted: string) =>
    after.get(userId)?.find(({ tier }) => tier === wanted)?.ends_at;
  const extended: { readonly userId: string; readonly tier: string }[] = [];
  for (const { userId, tier: named } of extensions) {
    const timeline = after.get(userId) ?? before.get(userId) ?? [];
    const tier = named ?? inForce(timeline, clock)?.tier;
    if (tier === undefined || (!revive && timeLeft(timeline, tier, clock) === 0)) continue;
    const longer = addGrant(timeline, { tier, durationDays }, application.tiers, clock);
    if (!longer?.some((period) => period.tier === tier)) continue;
    after.set(userId, longer);
    extended.push({ userId, tier });
  }
  if (after.size > 0) await replaceTimelines(trx, after);
  // Only now, because extending another tier of the same user moves the periods after it.
  return extended.map(({ userId, tier }) => ({
    userId,
    tier,
    expiresAt: toWallTime(endOf(userId, tier)!, application, now),
  }));
}
