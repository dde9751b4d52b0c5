const DAY_MS = 86_400_000;
const SESSION_MS = DAY_MS;

/** The parts of an event that are counted. */
export interface CountedEvent {
  readonly type: string;
  readonly appId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

/** A count of an application on a day, in total or for one tier or version. */
export interface Counter {
  readonly app_id: string;
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
  readonly metric: 'users_new' | 'users_deleted' | 'logins' | 'activations' | 'live_sessions';
  /** `more_versions` combines the versions beyond the limit. */
  readonly dimension: 'total' | 'tier' | 'version' | 'more_versions';
  /** The tier or the version; empty for none. */
  readonly value: string;
}

export interface Count extends Counter {
  readonly count: number;
}

/** The day of a time in UTC, as `YYYY-MM-DD`. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The day a number of days after another one. */
export function addDays(day: string, days: number): string {
  return dayOf(new Date(Date.parse(day) + days * DAY_MS));
}

/** Every day from the first to the last, both included. */
export function daysBetween(from: string, to: string): string[] {
  const length = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return Array.from({ length: Math.max(0, length) }, (_, index) => addDays(from, index));
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
  /** A tier or a version; null for none. */
  readonly name: string | null;
  readonly counts: Series;
}

/** Counts of one application by day. */
export interface Chart {
  /** @returns zeros for days without a count */
  total(metric: Count['metric']): Series;
  /** The line of each value, those with the highest sum first. */
  each(metric: Count['metric'], dimension: 'tier' | 'version'): NamedSeries[];
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
