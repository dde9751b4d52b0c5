import { dayOf } from '../../platform/calendar-state.ts';

const HOUR_MS = 3_600_000;
const SESSION_MS = 24 * HOUR_MS;

/** The parts of an event that are counted. */
export interface CountedEvent {
  readonly type: string;
  readonly appId: string;
  readonly userId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

export type Metric =
  | 'users_new'
  | 'users_deleted'
  | 'logins'
  | 'activations'
  | 'live_sessions'
  | 'refused_logins'
  | 'active_users';

/** What is counted by hour too. */
export const HOURLY_METRICS = [
  'users_new',
  'logins',
  'activations',
  'refused_logins',
] as const satisfies Metric[];
export type HourlyMetric = (typeof HOURLY_METRICS)[number];

/** A count of an application on a day, in total or for one tier or version. */
export interface Counter {
  readonly app_id: string;
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
  readonly metric: Metric;
  /** `more_versions` combines the versions beyond the limit. */
  readonly dimension: 'total' | 'tier' | 'version' | 'more_versions' | 'code';
  /** The tier, the version or the error code; empty for none. */
  readonly value: string;
}

export interface Count extends Counter {
  readonly count: number;
}

/** A count of an application in the hour that begins at a time. */
export interface HourlyCount {
  readonly app_id: string;
  readonly hour: Date;
  readonly metric: HourlyMetric;
  readonly count: number;
}

/** A user who logged in on a day. */
export interface ActiveUser {
  readonly app_id: string;
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
  readonly user_id: string;
}

/** When the hour of a time began. */
export function hourOf(moment: Date): Date {
  return new Date(moment.getTime() - (moment.getTime() % HOUR_MS));
}

/** When each hour of some days begins, up to the current one. */
export function hoursOf(days: readonly string[], now: Date): Date[] {
  return days
    .flatMap((day) => Array.from({ length: 24 }, (_, hour) => new Date(Date.parse(day) + hour * HOUR_MS)))
    .filter((hour) => hour <= now);
}

/** The sums of events: one count for each counter that they affect. */
export function countEvents(events: readonly CountedEvent[]): Count[] {
  const counts = new Map<string, Count>();
  for (const event of events) {
    for (const count of countsOf(event)) {
      const key = JSON.stringify([count.app_id, count.day, count.metric, count.dimension, count.value]);
      const before = counts.get(key)?.count ?? 0;
      counts.set(key, { ...count, count: before + count.count });
    }
  }
  return [...counts.values()].filter(({ count }) => count !== 0);
}

/** The sums of events by hour. */
export function countHours(events: readonly CountedEvent[]): HourlyCount[] {
  const counts = new Map<string, HourlyCount>();
  for (const event of events) {
    const hour = hourOf(event.createdAt);
    for (const { app_id, metric, dimension, count } of countsOf(event)) {
      if (dimension !== 'total' || !isHourly(metric)) continue;
      const key = JSON.stringify([app_id, hour, metric]);
      counts.set(key, { app_id, hour, metric, count: (counts.get(key)?.count ?? 0) + count });
    }
  }
  return [...counts.values()];
}

const isHourly = (metric: Metric): metric is HourlyMetric =>
  (HOURLY_METRICS as readonly Metric[]).includes(metric);

/** The users who logged in, each once for a day. */
export function activeUsersOf(events: readonly CountedEvent[]): ActiveUser[] {
  const users = new Map<string, ActiveUser>();
  for (const { type, appId, userId, createdAt } of events) {
    if (type !== 'session.created' || userId === null) continue;
    const user = { app_id: appId, day: dayOf(createdAt), user_id: userId };
    users.set(JSON.stringify(user), user);
  }
  return [...users.values()];
}

function countsOf({ type, appId, data, createdAt }: CountedEvent): Count[] {
  const today = dayOf(createdAt);
  const count = (
    metric: Count['metric'],
    dimension: Count['dimension'] = 'total',
    value = '',
    { day = today, by = 1 } = {},
  ): Count => ({ app_id: appId, day, metric, dimension, value, count: by });
  switch (type) {
    case 'user.created':
    case 'user.imported':
      return [count('users_new', 'total', '', { by: amountOf(data) })];
    case 'user.deleted':
      return [count('users_deleted', 'total', '', { by: amountOf(data) })];
    case 'license.redeemed':
      return [count('activations'), count('activations', 'tier', textOf(data['tier']))];
    case 'session.created': {
      // A session may begin just before midnight and its event be written after it, so the time of the session counts.
      const began = new Date(Date.parse(textOf(data['expires_at'])) - SESSION_MS);
      return [
        count('logins'),
        count('logins', 'tier', textOf(data['tier'])),
        count('logins', 'version', textOf(data['version'])),
        count('live_sessions', 'total', '', { day: dayOf(began) }),
      ];
    }
    case 'session.ended': {
      const day = dayOf(new Date(textOf(data['began_at'])));
      return day === today ? [count('live_sessions', 'total', '', { day, by: -1 })] : [];
    }
    case 'login.refused': {
      const by = amountOf(data);
      return [
        count('refused_logins', 'total', '', { by }),
        count('refused_logins', 'code', textOf(data['code']), { by }),
      ];
    }
    default:
      return [];
  }
}

/** The amount of an event: one by default. */
function amountOf({ amount }: Readonly<Record<string, unknown>>): number {
  return typeof amount === 'number' ? amount : 1;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** One line of a chart: a number for each day. */
export type Series = readonly number[];

export interface NamedSeries {
  /** A tier, a version or an error code; null for none. */
  readonly name: string | null;
  readonly counts: Series;
}

/** Counts of one application by day. */
export interface Chart {
  /** @returns zeros for days without a count */
  total(metric: Count['metric']): Series;
  /** The line of each value, those with the highest sum first. */
  each(metric: Count['metric'], dimension: 'tier' | 'version' | 'code'): NamedSeries[];
  /** The versions that were combined. */
  moreVersions(): Series;
}

export function toChart(days: readonly string[], counts: readonly Count[]): Chart {
  const placeOf = new Map(days.map((day, place) => [day, place]));

  function lineOf(some: readonly Count[]): Series {
    const line = days.map(() => 0);
    for (const { day, count } of some) {
      const place = placeOf.get(day);
      if (place !== undefined) line[place] = line[place]! + count;
    }
    return line;
  }
  const of = (metric: string, dimension: string) =>
    counts.filter((count) => count.metric === metric && count.dimension === dimension);

  return {
    total: (metric) => lineOf(of(metric, 'total')),
    moreVersions: () => lineOf(of('logins', 'more_versions')),
    each: (metric, dimension) =>
      [...Map.groupBy(of(metric, dimension), ({ value }) => value)]
        .map(([value, some]) => ({ name: value === '' ? null : value, counts: lineOf(some) }))
        .sort((a, b) => sumOf(b.counts) - sumOf(a.counts) || ((a.name ?? '') < (b.name ?? '') ? -1 : 1)),
  };
}

export function sumOf(line: Series): number {
  return line.reduce((sum, count) => sum + count, 0);
}

/** The total of a metric after a day. */
export function sumLater(counts: readonly Count[], metric: Metric, day: string): number {
  return sumOf(
    counts
      .filter((count) => count.metric === metric && count.dimension === 'total' && count.day > day)
      .map(({ count }) => count),
  );
}

/** The sum of lines, day by day. */
export function addLines(lines: readonly Series[], days: number): Series {
  return Array.from({ length: days }, (_, place) => sumOf(lines.map((line) => line[place]!)));
}

/** The number at the end of each day, computed backwards from the current number. */
export function totalsFrom(now: number, laterChange: number, changes: Series): Series {
  let total = now - laterChange;
  return changes
    .toReversed()
    .map((change) => {
      const atEnd = total;
      total -= change;
      return Math.max(0, atEnd);
    })
    .reverse();
}
