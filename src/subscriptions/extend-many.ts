import type { Knex } from 'knex';
import { LIFETIME, subscriptionClock, toWallTime, type Pause } from '../applications/application-state.ts';
import { addGrant, type Stretch } from './subscription-state.ts';
import { findTimelines, insertTimelines, replaceTimelines } from './subscription-store.ts';

/** Days for many users. */
export interface Extension {
  /** Undefined for whatever tier each of them has in force. */
  readonly tier: string | undefined;
  /** Days of 24 hours; null is a lifetime. */
  readonly durationDays: number | null;
}

/** What an extension has come to. */
export interface Extended {
  readonly tier: string;
  /** When that tier ends, in wall time. */
  readonly expiresAt: Date;
}

/** The first subscription of a user who comes from somewhere else: its end is told in days or in wall time. */
export type FirstGrant = { readonly tier: string } & (
  { readonly durationDays: number } | { readonly expiresAt: Date }
);

type Terms = Pause & { readonly tiers: readonly string[] };

/**
 * Extends the timelines of up to 1000 users in three statements, each of them as a licence key would. The caller holds
 * their rows.
 * @returns those whose timeline has changed; the others hold a lifetime, would reach past year 9999, or have no tier in
 *   force where none was named
 */
export async function extendMany(
  trx: Knex.Transaction,
  userIds: readonly string[],
  { tier, durationDays }: Extension,
  application: Terms,
  now: Date,
): Promise<Map<string, Extended>> {
  const clock = subscriptionClock(application, now);
  const before = await findTimelines(trx, userIds);
  const after = new Map<string, Stretch[]>();
  const extended = new Map<string, Extended>();
  for (const userId of userIds) {
    const timeline = before.get(userId) ?? [];
    const granted = tier ?? tierInForce(timeline, clock);
    if (granted === undefined) continue;
    const longer = addGrant(timeline, { tier: granted, durationDays }, application.tiers, clock);
    const stretch = longer?.find((each) => each.tier === granted);
    if (!longer || !stretch) continue;
    after.set(userId, longer);
    extended.set(userId, { tier: granted, expiresAt: toWallTime(stretch.ends_at, application, now) });
  }
  if (after.size > 0) await replaceTimelines(trx, after);
  return extended;
}

/** Gives new users their first subscription, up to 1000 of them in one statement. */
export async function grantFirst(
  trx: Knex.Transaction,
  grants: ReadonlyMap<string, FirstGrant>,
  application: Terms,
  now: Date,
): Promise<void> {
  const clock = subscriptionClock(application, now);
  const behind = now.getTime() - clock.getTime();
  const timelines = new Map<string, Stretch[]>();
  for (const [userId, grant] of grants) {
    if ('durationDays' in grant) {
      timelines.set(userId, addGrant([], grant, application.tiers, clock) ?? []);
    } else {
      const { tier, expiresAt } = grant;
      const ends_at = expiresAt >= LIFETIME ? LIFETIME : new Date(expiresAt.getTime() - behind);
      // It may be over by now.
      if (ends_at > clock) timelines.set(userId, [{ tier, starts_at: clock, ends_at }]);
    }
  }
  await insertTimelines(trx, timelines);
}

function tierInForce(timeline: readonly Stretch[], clock: Date): string | undefined {
  return timeline
    .filter(({ ends_at }) => ends_at > clock)
    .sort((a, b) => a.ends_at.getTime() - b.ends_at.getTime())[0]?.tier;
}
