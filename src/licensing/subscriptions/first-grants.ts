import type { Knex } from 'knex';
import { LIFETIME, subscriptionClock, type Pause } from '../../accounts/applications/application-state.ts';
import { addGrant, type SubscriptionPeriod } from './subscription-state.ts';
import { insertTimelines } from './subscription-store.ts';

/** The first subscription of an imported user, with its end in days or in wall time. */
export type FirstGrant = { readonly tier: string } & (
  { readonly durationDays: number } | { readonly expiresAt: Date }
);

/** Grants new users their first subscription, up to 1000 users in one statement. */
export async function grantFirst(
  trx: Knex.Transaction,
  grants: ReadonlyMap<string, FirstGrant>,
  application: Pause & { readonly tiers: readonly string[] },
  now: Date,
): Promise<void> {
  await insertTimelines(trx, toTimelines(grants, application, now));
}

/** When the first subscriptions of users will end, on the subscription clock. */
export function endsOfFirst(
  grants: ReadonlyMap<string, FirstGrant>,
  application: Pause & { readonly tiers: readonly string[] },
  now: Date,
): Map<string, Date> {
  const timelines = toTimelines(grants, application, now);
  return new Map([...timelines].flatMap(([userId, [period]]) => (period ? [[userId, period.ends_at]] : [])));
}

function toTimelines(
  grants: ReadonlyMap<string, FirstGrant>,
  application: Pause & { readonly tiers: readonly string[] },
  now: Date,
): Map<string, SubscriptionPeriod[]> {
  const clock = subscriptionClock(application, now);
  const behind = now.getTime() - clock.getTime();
  const timelines = new Map<string, SubscriptionPeriod[]>();
  for (const [userId, grant] of grants) {
    if ('durationDays' in grant) {
      timelines.set(userId, addGrant([], grant, application.tiers, clock) ?? []);
    } else {
      const { tier, expiresAt } = grant;
      const ends_at = expiresAt >= LIFETIME ? LIFETIME : new Date(expiresAt.getTime() - behind);
      // It may have ended by now.
      if (ends_at > clock) timelines.set(userId, [{ tier, starts_at: clock, ends_at }]);
    }
  }
  return timelines;
}
