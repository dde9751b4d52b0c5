import type { Knex } from 'knex';
import { subscriptionClock, toWallTime, type Pause } from '../applications/application-state.ts';
import { addGrant, inForce, timeLeft, type Stretch } from './subscription-state.ts';
import { findTimelines, replaceTimelines } from './subscription-store.ts';

/** Whose subscription is to last longer. */
export interface Extension {
  readonly userId: string;
  /** Undefined for whatever tier he has in force. */
  readonly tier?: string | undefined;
}

/** What an extension has come to. */
export interface Extended {
  readonly userId: string;
  readonly tier: string;
  /** When that tier ends, in wall time. */
  readonly expiresAt: Date;
}

/** How much longer. */
interface More {
  /** Days of 24 hours; null is a lifetime. */
  readonly durationDays: number | null;
  /** Whether a tier that has ended, or that the user never had, begins now; else it is left out. */
  readonly revive: boolean;
}

/**
 * Extends many users' subscriptions as a licence key does, in a few statements for all of them. The caller holds their rows
 * (`lockUsers`).
 * @param extensions at most a thousand, each user and tier once
 * @returns those that were extended; the others hold a lifetime of the tier or of a higher one, would reach past year 9999,
 *   or have no tier in force where none was named
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
  const after = new Map<string, readonly Stretch[]>();
  const endOf = (userId: string, wanted: string) =>
    after.get(userId)?.find(({ tier }) => tier === wanted)?.ends_at;
  const extended: { readonly userId: string; readonly tier: string }[] = [];
  for (const { userId, tier: named } of extensions) {
    const timeline = after.get(userId) ?? before.get(userId) ?? [];
    const tier = named ?? inForce(timeline, clock)?.tier;
    if (tier === undefined || (!revive && timeLeft(timeline, tier, clock) === 0)) continue;
    const longer = addGrant(timeline, { tier, durationDays }, application.tiers, clock);
    if (!longer?.some((stretch) => stretch.tier === tier)) continue;
    after.set(userId, longer);
    extended.push({ userId, tier });
  }
  if (after.size > 0) await replaceTimelines(trx, after);
  // Only now: another tier of the same user moves the end of what waits behind it.
  return extended.map(({ userId, tier }) => ({
    userId,
    tier,
    expiresAt: toWallTime(endOf(userId, tier)!, application, now),
  }));
}
