import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import { invalidMember } from '../../foundation/errors/api-error.ts';
import type { PublishedEvent } from '../../foundation/events/events.ts';
import { daysOf, type DayRange } from '../../foundation/day-ranges/day-ranges.ts';
import { addDays, dayOf, daysBetween } from '../../platform/calendar-state.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Licenses } from '../licenses/licenses.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { createOverviews, type Overviews } from './overviews.ts';
import * as recent from './recent-store.ts';
import {
  activeUsersOf,
  addLines,
  countEvents,
  countHours,
  HOURLY_METRICS,
  hoursOf,
  toChart,
  sumLater,
  totalsFrom,
  type Count,
  type HourlyCount,
  type HourlyMetric,
  type Metric,
  type NamedSeries,
  type Series,
} from './statistics-state.ts';
import * as store from './statistics-store.ts';

export type { ApplicationCounts, ApplicationOverview, Overview } from './overviews.ts';
export type { NamedSeries, Series } from './statistics-state.ts';

const DAYS = { byDefault: 30, atMost: 366 };
const DAYS_WITH_HOURS = { byDefault: 2, atMost: 7 };
/** For how many days, including today, hours are kept. */
const DAYS_KEPT_BY_HOUR = 31;
/** For how many days, including today, the users who logged in are kept: publication may lag behind. */
const DAYS_KEPT_BY_USER = 4;
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
  readonly activeUsers: Series;
  readonly refusedLogins: { readonly total: Series; readonly byCode: readonly NamedSeries[] };
  /** Undefined unless requested. */
  readonly hourly: HourlyStatistics | undefined;
}

/** What happened in an application by hour: every series has one number for each hour. */
export interface HourlyStatistics {
  /** When each hour begins. */
  readonly hours: readonly Date[];
  readonly series: Readonly<Record<HourlyMetric, Series>>;
}

export interface StatisticsRange extends DayRange {
  readonly hourly?: boolean | undefined;
}

export interface DailyStatistics extends Overviews {
  /**
   * Adds events to the counters of their days, in the transaction that publishes them: each is counted once.
   * @param trx the transaction of the relay, which runs one at a time
   */
  count(trx: Knex.Transaction, events: readonly PublishedEvent[]): Promise<void>;
  /**
   * The statistics of a range of days, today at the latest; by default of the last 30 days, or with those of hours, of
   * the last two.
   * @throws ApiError APPLICATION_NOT_FOUND; VALIDATION_FAILED for days in the wrong order, too many days, only days in
   *   the future, or days whose hours are no longer kept
   */
  read(developerId: string, appId: string, range: StatisticsRange): Promise<Statistics>;
  /** Deletes a batch of counts of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
  /** Deletes a batch of counts by hour and of active users that are no longer needed. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'ofDeveloper' | 'usersOf' | 'list' | 'usersOfDeveloper'>;
  readonly developers: Pick<Developers, 'account'>;
  readonly licenses: Pick<Licenses, 'countsOf'>;
  readonly sessions: Pick<Sessions, 'countLiveOfApplications'>;
  readonly clock: Clock;
}

export function createStatistics(deps: Dependencies): DailyStatistics {
  const { knex, applications, sessions, clock } = deps;

  async function readHours(trx: Knex.Transaction, appId: string, days: readonly string[], now: Date) {
    const hours = hoursOf(days, now);
    const until = new Date(addDays(days.at(-1)!, 1));
    return toHourly(hours, await recent.readHours(trx, appId, hours[0]!, until));
  }

  return {
    ...createOverviews(deps),

    async count(trx, events) {
      const active = await recent.addRecent(trx, countHours(events), activeUsersOf(events));
      await store.addCounts(trx, [...(await withFewVersions(trx, countEvents(events))), ...active]);
    },

    async read(developerId, appId, range) {
      await applications.ofDeveloper(developerId, appId);
      const now = clock.now();
      const today = dayOf(now);
      const days = range.hourly ? daysWithHours(range, today) : daysOf(range, today, DAYS);
      // One snapshot, so that users and their counts are consistent.
      return knex.transaction(
        async (trx) => {
          const counts = await store.readCounts(trx, appId, days[0]!, days.at(-1)!);
          const chart = toChart(days, counts);
          const later = (metric: Metric) => sumLater(counts, metric, days.at(-1)!);
          const [added, deleted] = [chart.total('users_new'), chart.total('users_deleted')];
          const laterChange = later('users_new') - later('users_deleted');
          const changes = added.map((count, place) => count - deleted[place]!);
          const total = totalsFrom(await applications.usersOf(trx, appId), laterChange, changes);
          const versions = chart.each('logins', 'version');
          const rest = versions.slice(VERSIONS_SHOWN).map(({ counts: line }) => line);
          const atEnd = chart.total('live_sessions').map((count) => Math.max(0, count));
          const liveNow =
            days.at(-1) === today
              ? [...(await sessions.countLiveOfApplications(trx, [appId], now)).values()]
              : [];
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
            activeUsers: chart.total('active_users'),
            refusedLogins: {
              total: chart.total('refused_logins'),
              byCode: chart.each('refused_logins', 'code'),
            },
            hourly: range.hourly ? await readHours(trx, appId, days, now) : undefined,
          };
        },
        { isolationLevel: 'repeatable read', readOnly: true },
      );
    },

    async clearOf(appId) {
      const days = await store.clearCounts(knex, appId, CLEARED_AT_ONCE);
      const hours = days || (await recent.clearHoursOf(knex, appId, CLEARED_AT_ONCE));
      if (hours > 0) return hours;
      // By day, as in the index: those before are deleted with their day.
      const today = dayOf(clock.now());
      const kept = daysBetween(addDays(today, 1 - DAYS_KEPT_BY_USER), addDays(today, 1));
      return recent.clearActiveUsersOf(knex, appId, kept, CLEARED_AT_ONCE);
    },

    async clearExpired() {
      const today = dayOf(clock.now());
      const firstHour = new Date(addDays(today, 1 - DAYS_KEPT_BY_HOUR));
      const hours = await recent.clearHours(knex, firstHour, CLEARED_AT_ONCE);
      const firstDay = addDays(today, 1 - DAYS_KEPT_BY_USER);
      return hours || recent.clearActiveUsers(knex, firstDay, CLEARED_AT_ONCE);
    },
  };
}

/** The days of a range whose hours are still kept. */
function daysWithHours(range: DayRange, today: string): readonly string[] {
  const days = daysOf(range, today, DAYS_WITH_HOURS);
  if (days[0]! >= addDays(today, 1 - DAYS_KEPT_BY_HOUR)) return days;
  const faulty = range.from === undefined ? 'query/to' : 'query/from';
  throw invalidMember(faulty, `must not be before the last ${DAYS_KEPT_BY_HOUR} days for series by hour`);
}

function toHourly(hours: readonly Date[], counts: readonly HourlyCount[]): HourlyStatistics {
  const placeOf = new Map(hours.map((hour, place) => [hour.getTime(), place]));
  const lineOf = (metric: HourlyMetric): Series => {
    const line = hours.map(() => 0);
    for (const count of counts) {
      const place = placeOf.get(count.hour.getTime());
      if (count.metric === metric && place !== undefined) line[place] = count.count;
    }
    return line;
  };
  const lines = HOURLY_METRICS.map((metric) => [metric, lineOf(metric)] as const);
  return { hours, series: Object.fromEntries(lines) as HourlyStatistics['series'] };
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
