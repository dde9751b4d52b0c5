import type { Knex } from 'knex';
import { subscriptionClock, toWallTime, type Pause } from '../applications/application-state.ts';
import { addGrant, type Grant, type Stretch } from './subscription-state.ts';
import { findTimeline, replaceTimeline } from './subscription-store.ts';

/** Where a user stands: the tier in force, or that there was one. Times are wall time. */
export type Standing =
  | { readonly status: 'none' }
  | { readonly status: 'expired' }
  | { readonly status: 'active'; readonly tier: string; readonly expiresAt: Date };

/**
 * Adds a grant to a user's timeline. The caller holds the user's row, so that grants are added one by one.
 * @returns when the granted tier ends, in wall time; undefined when the grant would add nothing and nothing was changed
 */
export async function extendSubscription(
  trx: Knex.Transaction,
  userId: string,
  grant: Grant,
  application: Pause & { readonly tiers: readonly string[] },
  now: Date,
): Promise<Date | undefined> {
  const clock = subscriptionClock(application, now);
  const timeline = addGrant(await findTimeline(trx, userId), grant, application.tiers, clock);
  const granted = timeline?.find(({ tier }) => tier === grant.tier);
  if (!timeline || !granted) return undefined;
  await replaceTimeline(trx, userId, timeline);
  return toWallTime(granted.ends_at, application, now);
}

/** Where a user stands now. */
export async function subscriptionStanding(
  db: Knex,
  userId: string,
  application: Pause,
  now: Date,
): Promise<Standing> {
  return standing(await findTimeline(db, userId), application, now);
}

/** Where a user stands, from his whole timeline in any order. */
export function standing(
  stretches: readonly Pick<Stretch, 'tier' | 'ends_at'>[],
  application: Pause,
  now: Date,
): Standing {
  if (stretches.length === 0) return { status: 'none' };
  const clock = subscriptionClock(application, now);
  const [first] = stretches
    .filter(({ ends_at }) => ends_at > clock)
    .sort((a, b) => a.ends_at.getTime() - b.ends_at.getTime());
  if (!first) return { status: 'expired' };
  return { status: 'active', tier: first.tier, expiresAt: toWallTime(first.ends_at, application, now) };
}
