import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import { invalidMember } from '../../foundation/errors/api-error.ts';
import type { PublishedEvent } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Sessions } from '../sessions/sessions.ts';
import {
  addDays,
  addLines,
  countEvents,
  dayOf,
  daysBetween,
  toChart,
  sumOf,
  totalsFrom,
  type Count,
  type NamedSeries,
  type Series,
} from './statistics-state.ts';
import * as store from './statistics-store.ts';

export type { NamedSeries, Series } from './statistics-state.ts';

const DAYS_UNLESS_TOLD = 30;
const MOST_DAYS = 366;
/** How many versions are listed by name. */
const VERSIONS_SHOWN = 20;
/**
 * How many versions of one application are counted separately on a day: programs choose them, and could fill the table.
 */
const VERSIONS_PER_DAY = 100;
const CLEARED_AT_ONCE = 1000;

/** What happened in an application: every series has one number for each day. */
export interface Statistics {
  readonly days: readonly string[];
  readonly users: { readonly new: Series; readonly deleted: Series; readonly total: Series };
  readonly logins: {
    readonly total: Series;
    readonly byTier: readonly NamedSeries[];
    readonly byVersion: readonly NamedSeries[];
    readonly otherVersions: Series;
  };
  readonly activations: { readonly total: Series; readonly byTier: readonly NamedSeries[] };
  readonly liveSessions: Series;
}

export interface DailyStatistics {
  /**
   * Adds events to the counters of their days, in the transaction that publishes them: each is counted once.
   * @param trx the transaction of the relay, which runs one at a time
   */
  count(trx: Knex.Transaction, events: readonly PublishedEvent[]): Promise<void>;
  /**
   * The statistics of a range of days in UTC, both ends included; by default the last 30 days, today at the latest.
   * @param from `YYYY-MM-DD`
   * @param to `YYYY-MM-DD`
   * @throws ApiError APPLICATION_NOT_FOUND; VALIDATION_FAILED for days in the wrong order, too many days, or only days
   *   in the future
   */
  read(
    developerId: string,
    appId: string,
    range: { readonly from?: string | undefined; readonly to?: string | undefined },
  ): Promise<Statistics>;
  /** Deletes a batch of counts of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'ofDeveloper' | 'usersOf'>;
  readonly sessions: Pick<Sessions, 'countLiveOfApplication'>;
  readonly clock: Clock;
}

export function createStatistics({ knex, applications, sessions, clock }: Dependencies): DailyStatistics {
  return {
    async count(trx, events) {
      await store.addCounts(trx, await withFewVersions(trx, countEvents(events)));
    },

    async read(developerId, appId, range) {
      await applications.ofDeveloper(developerId, appId);
      const now = clock.now();
      const today = dayOf(now);
      const days = toDays(range, today);
      // One snapshot, so that users and their counts are consistent.
      return knex.transaction(
        async (trx) => {
          const counts = await store.readCounts(trx, appId, days[0]!);
          const chart = toChart(days, counts);
          const later = toChart(
            daysBetween(addDays(days.at(-1)!, 1), addDays(today, 1)),
            counts.filter(({ metric }) => metric.startsWith('users_')),
          );
          const [added, deleted] = [chart.total('users_new'), chart.total('users_deleted')];
          const laterChange = sumOf(later.total('users_new')) - sumOf(later.total('users_deleted'));
          const changes = added.map((count, place) => count - deleted[place]!);
          const total = totalsFrom(await applications.usersOf(trx, appId), laterChange, changes);
          const versions = chart.each('logins', 'version');
          const rest = versions.slice(VERSIONS_SHOWN).map(({ counts: line }) => line);
          const atEnd = chart.total('live_sessions').map((count) => Math.max(0, count));
          const liveNow =
            days.at(-1) === today ? [await sessions.countLiveOfApplication(trx, appId, now)] : [];
          return {
            days,
            users: { new: added, deleted, total },
            logins: {
              total: chart.total('logins'),
              byTier: chart.each('logins', 'tier'),
              byVersion: versions.slice(0, VERSIONS_SHOWN),
              otherVersions: addLines([...rest, chart.moreVersions()], days.length),
            },
            activations: { total: chart.total('activations'), byTier: chart.each('activations', 'tier') },
            liveSessions: [...atEnd.slice(0, atEnd.length - liveNow.length), ...liveNow],
          };
        },
        { isolationLevel: 'repeatable read', readOnly: true },
      );
    },

    clearOf: (appId) => store.clearCounts(knex, appId, CLEARED_AT_ONCE),
  };
}

/** The days of a range that have begun. */
function toDays(
  range: { readonly from?: string | undefined; readonly to?: string | undefined },
  today: string,
) {
  const { to: last = today } = range;
  const to = last < today ? last : today;
  const from = range.from ?? addDays(to, 1 - DAYS_UNLESS_TOLD);
  if (from > last) throw invalidMember('query/from', 'must not be after to');
  if (from > today) throw invalidMember('query/from', 'must not be in the future');
  const days = daysBetween(from, to);
  if (days.length > MOST_DAYS) {
    throw invalidMember('query/from', `must not be more than ${MOST_DAYS} days before to`);
  }
  return days;
}

/** Combines the versions beyond the limit. */
async function withFewVersions(trx: Knex.Transaction, counts: readonly Count[]): Promise<readonly Count[]> {
  const [versions, others] = [
    counts.filter(({ dimension }) => dimension === 'version'),
    counts.filter(({ dimension }) => dimension !== 'version'),
  ];
  if (versions.length === 0) return counts;
  const found = await store.findVersions(trx, versions);
  const kept: Count[] = [];
  const surplus = new Map<string, Count>();
  for (const [key, ofDay] of Map.groupBy(versions, ({ app_id, day }) => `${app_id} ${day}`)) {
    const before = found.find(({ app_id, day }) => `${app_id} ${day}` === key);
    const known = new Set(before?.known);
    let remaining = VERSIONS_PER_DAY - (before?.versions ?? 0);
    for (const count of ofDay) {
      if (known.has(count.value) || remaining > 0) {
        if (!known.has(count.value)) remaining -= 1;
        kept.push(count);
        continue;
      }
      const sum = (surplus.get(key)?.count ?? 0) + count.count;
      surplus.set(key, { ...count, dimension: 'more_versions', value: '', count: sum });
    }
  }
  return [...others, ...kept, ...surplus.values()];
}
