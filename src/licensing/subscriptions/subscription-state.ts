import { LIFETIME } from '../../accounts/applications/application-state.ts';

const DAY_MS = 86_400_000;

/** One period of a user's timeline, on the application's subscription clock. */
export interface SubscriptionPeriod {
  readonly tier: string;
  readonly starts_at: Date;
  readonly ends_at: Date;
}

export interface Grant {
  readonly tier: string;
  /** Days of 24 hours; null is a lifetime. */
  readonly durationDays: number | null;
}

/**
 * Adds the grant of a key to a user's timeline. A timeline consists of the remaining time of each tier in consecutive
 * periods from now, the highest tier first. So the same tier is extended from the later of now and its end, a higher
 * tier starts now and the lower one resumes after it, and a lower tier waits.
 * @param timeline the user's current periods, in any order
 * @param tiers the application's tiers, the lowest first; a tier that is not in the list ranks below all
 * @param clock the current time of the subscription clock
 * @returns the new timeline from `clock`; undefined if the grant cannot be added completely, because the user already
 *   has a lifetime of its tier or of a higher one, or because it would end after the year 9999
 */
export function addGrant(
  timeline: readonly SubscriptionPeriod[],
  grant: Grant,
  tiers: readonly string[],
  clock: Date,
): SubscriptionPeriod[] | undefined {
  return addTime(timeline, grant.tier, toMilliseconds(grant), tiers, clock);
}

/** Two users' timelines. */
export interface TransferResult {
  readonly from: SubscriptionPeriod[];
  readonly to: SubscriptionPeriod[];
}

/**
 * Moves the remaining time of a grant from one user's timeline to another's: the time of the grant, or what remains of
 * its tier if that is less. A lifetime moves as a lifetime; days that a lifetime has absorbed are lost.
 * @param from the timeline of the user who was granted it, `to` that of the other one
 * @returns both new timelines; `nothing` if no time remains, and `refused` if it cannot be added completely to the
 *   other user's timeline, as in addGrant
 */
export function moveGrant(
  from: readonly SubscriptionPeriod[],
  to: readonly SubscriptionPeriod[],
  grant: Grant,
  tiers: readonly string[],
  clock: Date,
): TransferResult | 'nothing' | 'refused' {
  const left = remainders(from, clock);
  const present = left.get(grant.tier) ?? 0;
  const given = toMilliseconds(grant);
  if (present === 0 || (present === Infinity && given !== Infinity)) return 'nothing';
  const moved = Math.min(present, given);
  const taken = addTime(to, grant.tier, moved, tiers, clock);
  if (!taken) return 'refused';
  left.set(grant.tier, moved === present ? 0 : present - moved);
  // A shorter timeline always fits.
  return { from: toTimeline(left, from, tiers, clock)!, to: taken };
}

/** The period in force: among those that have not ended, the one that ends first. */
export function inForce<Ending extends Pick<SubscriptionPeriod, 'ends_at'>>(
  timeline: readonly Ending[],
  clock: Date,
): Ending | undefined {
  return timeline
    .filter(({ ends_at }) => ends_at > clock)
    .sort((a, b) => a.ends_at.getTime() - b.ends_at.getTime())[0];
}

/** The remaining milliseconds of a tier; infinite for a lifetime. */
export function timeLeft(timeline: readonly SubscriptionPeriod[], tier: string, clock: Date): number {
  return remainders(timeline, clock).get(tier) ?? 0;
}

function addTime(
  timeline: readonly SubscriptionPeriod[],
  tier: string,
  milliseconds: number,
  tiers: readonly string[],
  clock: Date,
): SubscriptionPeriod[] | undefined {
  const left = remainders(timeline, clock);
  const rank = tiers.indexOf(tier);
  for (const [other, ms] of left) {
    if (ms === Infinity && tiers.indexOf(other) >= rank) return undefined;
  }
  left.set(tier, (left.get(tier) ?? 0) + milliseconds);
  return toTimeline(left, timeline, tiers, clock);
}

/** The remaining time of each tier of a timeline, the tier in force first. */
function remainders(timeline: readonly SubscriptionPeriod[], clock: Date): Map<string, number> {
  const inOrder = timeline.toSorted((a, b) => a.starts_at.getTime() - b.starts_at.getTime());
  return new Map(inOrder.map((period) => [period.tier, remaining(period, clock)] as const));
}

/**
 * Arranges the remaining time of each tier in consecutive periods.
 * @param before the current timeline
 * @returns undefined if it would end after the year 9999
 */
function toTimeline(
  left: ReadonlyMap<string, number>,
  before: readonly SubscriptionPeriod[],
  tiers: readonly string[],
  clock: Date,
): SubscriptionPeriod[] | undefined {
  const rank = (tier: string) => tiers.indexOf(tier);
  const highestFirst = [...left].filter(([, ms]) => ms > 0).sort(([a], [b]) => rank(b) - rank(a));
  const result: SubscriptionPeriod[] = [];
  // Another node's clock may be ahead: periods that it started are not shortened.
  const first = Math.min(...before.map(({ starts_at }) => starts_at.getTime()));
  let start = first > clock.getTime() && first !== Infinity ? new Date(first) : clock;
  for (const [tier, milliseconds] of highestFirst) {
    if (start >= LIFETIME) break;
    const end = milliseconds === Infinity ? LIFETIME : new Date(start.getTime() + milliseconds);
    if (milliseconds !== Infinity && end >= LIFETIME) return undefined;
    result.push({ tier, starts_at: start, ends_at: end });
    start = end;
  }
  return result;
}

function toMilliseconds({ durationDays }: Grant): number {
  return durationDays === null ? Infinity : durationDays * DAY_MS;
}

/** The remaining milliseconds of a period; infinite for a lifetime. */
function remaining(period: SubscriptionPeriod, clock: Date): number {
  if (period.ends_at >= LIFETIME) return Infinity;
  return Math.max(0, period.ends_at.getTime() - Math.max(period.starts_at.getTime(), clock.getTime()));
}
