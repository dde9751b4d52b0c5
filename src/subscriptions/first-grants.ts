import type { Knex } from 'knex';
import { LIFETIME, subscriptionClock, type Pause } from '../applications/application-state.ts';
import { addGrant, type Stretch } from './subscription-state.ts';
import { insertTimelines } from './subscription-store.ts';

/** The first subscription of a user who comes from somewhere else: its end is told in days or in wall time. */
export type FirstGrant = { readonly tier: string } & (
  { readonly durationDays: number } | { readonly expiresAt: Date }
);

/** Gives new users their first subscription, up to 1000 of them in one statement. */
export async function grantFirst(
  trx: Knex.Transaction,
  grants: ReadonlyMap<string, FirstGrant>,
  application: Pause & { readonly tiers: readonly string[] },
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
