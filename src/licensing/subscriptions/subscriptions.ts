import type { Knex } from 'knex';
import { subscriptionClock, toWallTime, type Pause } from '../../accounts/applications/application-state.ts';
import { addGrant, inForce, moveGrant, type Grant, type SubscriptionPeriod } from './subscription-state.ts';
import { findTimeline, findTimelines, replaceTimeline, replaceTimelines } from './subscription-store.ts';

export { extendSubscriptions, type Extended, type Extension } from './extensions.ts';
export { endsOfFirst, grantFirst, type FirstGrant } from './first-grants.ts';
export { findTimelines as timelinesOf } from './subscription-store.ts';

/** The state of a user's subscription: the tier in force, or that there was one. Times are wall time. */
export type Standing =
  | { readonly status: 'none' }
  | { readonly status: 'expired' }
  | { readonly status: 'active'; readonly tier: string; readonly expiresAt: Date };

/**
 * Adds a grant to a user's timeline. The caller locks the user's row, so that grants are added one by one.
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

/**
 * Moves the remaining time of a grant from one user to another. The caller has locked the rows of both users.
 * @returns when the tier then ends for each, in wall time: null for a user who has nothing left of it; `nothing` and
 *   `refused` as moveGrant has them, when nothing was changed
 */
export async function moveSubscription(
  trx: Knex.Transaction,
  users: { readonly from: string; readonly to: string },
  grant: Grant,
  application: Pause & { readonly tiers: readonly string[] },
  now: Date,
): Promise<{ readonly from: Date | null; readonly to: Date | null } | 'nothing' | 'refused'> {
  const clock = subscriptionClock(application, now);
  const timelines = await findTimelines(trx, [users.from, users.to]);
  const timelineOf = (userId: string) => timelines.get(userId) ?? [];
  const moved = moveGrant(timelineOf(users.from), timelineOf(users.to), grant, application.tiers, clock);
  if (typeof moved === 'string') return moved;
  await replaceTimelines(
    trx,
    new Map([
      [users.from, moved.from],
      [users.to, moved.to],
    ]),
  );
  const endOf = (timeline: readonly SubscriptionPeriod[]) => {
    const period = timeline.find(({ tier }) => tier === grant.tier);
    return period ? toWallTime(period.ends_at, application, now) : null;
  };
  return { from: endOf(moved.from), to: endOf(moved.to) };
}

/** The current state of a user's subscription. */
export async function subscriptionStanding(
  db: Knex,
  userId: string,
  application: Pause,
  now: Date,
): Promise<Standing> {
  return standing(await findTimeline(db, userId), application, now);
}

/** The state of a user's subscription, from the whole timeline in any order. */
export function standing(
  periods: readonly Pick<SubscriptionPeriod, 'tier' | 'ends_at'>[],
  application: Pause,
  now: Date,
): Standing {
  if (periods.length === 0) return { status: 'none' };
  const clock = subscriptionClock(application, now);
  const first = inForce(periods, clock);
  if (!first) return { status: 'expired' };
  return { status: 'active', tier: first.tier, expiresAt: toWallTime(first.ends_at, application, now) };
}

/** The state of a user's subscription with the whole timeline. Times are wall time. */
export interface Subscription {
  readonly standing: Standing;
  /** When the last period ends or ended; null if there never was one. */
  readonly endsAt: Date | null;
  /** In chronological order. */
  readonly periods: readonly { readonly tier: string; readonly startsAt: Date; readonly expiresAt: Date }[];
}

/** The subscriptions of many users of one application, in one statement. */
export async function subscriptionsOf(
  db: Knex,
  userIds: readonly string[],
  application: Pause,
  now: Date,
): Promise<Map<string, Subscription>> {
  const timelines = await findTimelines(db, userIds);
  const wall = (moment: Date) => toWallTime(moment, application, now);
  return new Map(
    userIds.map((userId) => {
      const timeline = timelines.get(userId) ?? [];
      const periods = timeline
        .toSorted((a, b) => a.starts_at.getTime() - b.starts_at.getTime())
        .map(({ tier, starts_at, ends_at }) => ({
          tier,
          startsAt: wall(starts_at),
          expiresAt: wall(ends_at),
        }));
      const endsAt = periods.at(-1)?.expiresAt ?? null;
      return [userId, { standing: standing(timeline, application, now), endsAt, periods }] as const;
    }),
  );
}
