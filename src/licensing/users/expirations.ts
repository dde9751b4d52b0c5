import type { Knex } from 'knex';
import { toSubscriptionClock } from '../../accounts/applications/application-state.ts';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Clock } from '../../platform/clock.ts';
import { countEnds } from './user-directory-store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The ends of subscriptions by day. */
export interface ExpirationCounts {
  /** As ISO dates, in UTC. */
  readonly days: readonly string[];
  readonly counts: readonly number[];
}

export interface Expirations {
  /**
   * How many subscriptions end on each of the next days, the first of which is the rest of today.
   * @throws ApiError APPLICATION_NOT_FOUND
   */
  expirations(developerId: string, appId: string, days: number): Promise<ExpirationCounts>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'ofDeveloper'>;
  readonly clock: Clock;
}

export function createExpirations({ knex, applications, clock }: Dependencies): Expirations {
  return {
    async expirations(developerId, appId, days) {
      const application = await applications.ofDeveloper(developerId, appId);
      const now = clock.now();
      const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
      const midnights = Array.from({ length: days + 1 }, (_, day) => new Date(today + day * DAY_MS));
      // A subscription that ends now has ended.
      const starts = [new Date(now.getTime() + 1), ...midnights.slice(1)];
      const bounds = starts.map((start) => toSubscriptionClock(start, application, now));
      return {
        days: midnights.slice(0, days).map((midnight) => midnight.toISOString().slice(0, 10)),
        counts: await countEnds(knex, appId, bounds),
      };
    },
  };
}
