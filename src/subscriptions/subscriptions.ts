import type { Knex } from 'knex';
import { subscriptionClock, toWallTime, type Pause } from '../applications/application-state.ts';
import { addGrant, inForce, moveGrant, type Grant, type Stretch } from './subscription-state.ts';
import { findTimeline, findTimelines, replaceTimeline, replaceTimelines } from './subscription-store.ts';

export { extendSubscriptions, type Extended, type Extension } from './extensions.ts';
export { grantFirst, type FirstGrant } from './first-grants.ts';
export { lockUsers } from './subscription-store.ts';

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

/**
 * Moves what is left of a grant from one user to another. The caller holds both rows (`lockUsers`).
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
  const endOf = (timeline: readonly Stretch[]) => {
    const stretch = timeline.find(({ tier }) => tier === grant.tier);
    return stretch ? toWallTime(stretch.ends_at, application, now) : null;
  };
  return { from: endOf(moved.from), to: endOf(moved.to) };
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
  const first = inForce(stretches, clock);
  if (!first) return { status: 'expired' };
  return { status: 'active', tier: first.tier, expiresAt: toWallTime(first.ends_at, application, now) };
}

/** Where a user stands, and his whole timeline. Times are wall time. */
export interface Subscription {
  readonly standing: Standing;
  /** The first one first. */
  readonly stretches: readonly { readonly tier: string; readonly startsAt: Date; readonly expiresAt: Date }[];
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
      const stretches = timeline
        .toSorted((a, b) => a.starts_at.getTime() - b.starts_at.getTime())
        .map(({ tier, starts_at, ends_at }) => ({
          tier,
          startsAt: wall(starts_at),
          expiresAt: wall(ends_at),
        }));
      return [userId, { standing: standing(timeline, application, now), stretches }] as const;
    }),
  );
}
