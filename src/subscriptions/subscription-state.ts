import { LIFETIME } from '../applications/application-state.ts';

const DAY_MS = 86_400_000;

/** One stretch of a user's timeline, on the application's subscription clock. */
export interface Stretch {
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
 * Adds what a key grants to a user's timeline. A timeline is what is left of each tier, laid end to end from now on,
 * the highest tier first. So the same tier is extended from the later of now and its end, a higher one starts now and
 * what is left of the lower one resumes after it, and a lower one waits.
 * @param timeline the user's present stretches, in any order
 * @param tiers the application's tiers, the lowest first; a tier that is no longer in the list ranks below all
 * @param clock the present moment of the subscription clock
 * @returns the new timeline from `clock` on; undefined when the grant cannot be added whole, because a lifetime of its
 *   tier or of a higher one is there already, or because it would reach past year 9999
 */
export function addGrant(
  timeline: readonly Stretch[],
  grant: Grant,
  tiers: readonly string[],
  clock: Date,
): Stretch[] | undefined {
  return addTime(timeline, grant.tier, toMilliseconds(grant), tiers, clock);
}

/** Two users' timelines. */
export interface Handover {
  readonly from: Stretch[];
  readonly to: Stretch[];
}

/**
 * Moves what is left of a grant from one user's timeline to another's: as much as the grant gave, or what is left of its
 * tier when that is less. A lifetime moves as a lifetime; days that a lifetime has taken in are gone.
 * @param from the timeline of the user who was granted it, `to` that of the other one
 * @returns both new timelines; `nothing` when nothing is left to be moved, and `refused` when the other user's timeline
 *   cannot take it whole, as with addGrant
 */
export function moveGrant(
  from: readonly Stretch[],
  to: readonly Stretch[],
  grant: Grant,
  tiers: readonly string[],
  clock: Date,
): Handover | 'nothing' | 'refused' {
  const left = remainders(from, clock);
  const present = left.get(grant.tier) ?? 0;
  const given = toMilliseconds(grant);
  if (present === 0 || (present === Infinity && given !== Infinity)) return 'nothing';
  const moved = Math.min(present, given);
  const taken = addTime(to, grant.tier, moved, tiers, clock);
  if (!taken) return 'refused';
  left.set(grant.tier, moved === present ? 0 : present - moved);
  // What is shorter than before fits.
  return { from: layOut(left, from, tiers, clock)!, to: taken };
}

/** The stretch that is in force: of those that have not ended, the one that ends first. */
export function inForce<Ending extends Pick<Stretch, 'ends_at'>>(
  timeline: readonly Ending[],
  clock: Date,
): Ending | undefined {
  return timeline
    .filter(({ ends_at }) => ends_at > clock)
    .sort((a, b) => a.ends_at.getTime() - b.ends_at.getTime())[0];
}

/** Milliseconds that are left of a tier; infinite for a lifetime. */
export function timeLeft(timeline: readonly Stretch[], tier: string, clock: Date): number {
  return remainders(timeline, clock).get(tier) ?? 0;
}

function addTime(
  timeline: readonly Stretch[],
  tier: string,
  milliseconds: number,
  tiers: readonly string[],
  clock: Date,
): Stretch[] | undefined {
  const left = remainders(timeline, clock);
  const rank = tiers.indexOf(tier);
  for (const [other, ms] of left) {
    if (ms === Infinity && tiers.indexOf(other) >= rank) return undefined;
  }
  left.set(tier, (left.get(tier) ?? 0) + milliseconds);
  return layOut(left, timeline, tiers, clock);
}

/** What is left of each tier of a timeline, the tier in force first. */
function remainders(timeline: readonly Stretch[], clock: Date): Map<string, number> {
  const inOrder = timeline.toSorted((a, b) => a.starts_at.getTime() - b.starts_at.getTime());
  return new Map(inOrder.map((stretch) => [stretch.tier, remaining(stretch, clock)] as const));
}

/**
 * Lays what is left of each tier end to end.
 * @param before the timeline until now
 * @returns undefined when it reaches past year 9999
 */
function layOut(
  left: ReadonlyMap<string, number>,
  before: readonly Stretch[],
  tiers: readonly string[],
  clock: Date,
): Stretch[] | undefined {
  const rank = (tier: string) => tiers.indexOf(tier);
  const highestFirst = [...left].filter(([, ms]) => ms > 0).sort(([a], [b]) => rank(b) - rank(a));
  const result: Stretch[] = [];
  // Another node's clock may be ahead of ours: what it began is not cut short.
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

/** Milliseconds that are left of a stretch; infinite for a lifetime. */
function remaining(stretch: Stretch, clock: Date): number {
  if (stretch.ends_at >= LIFETIME) return Infinity;
  return Math.max(0, stretch.ends_at.getTime() - Math.max(stretch.starts_at.getTime(), clock.getTime()));
}
