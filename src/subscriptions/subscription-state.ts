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
  const present = timeline.toSorted((a, b) => a.starts_at.getTime() - b.starts_at.getTime());
  const left = new Map(present.map((stretch) => [stretch.tier, remaining(stretch, clock)] as const));
  const rank = (tier: string) => tiers.indexOf(tier);
  for (const [tier, milliseconds] of left) {
    if (milliseconds === Infinity && rank(tier) >= rank(grant.tier)) return undefined;
  }
  const added = grant.durationDays === null ? Infinity : grant.durationDays * DAY_MS;
  left.set(grant.tier, (left.get(grant.tier) ?? 0) + added);

  const highestFirst = [...left].filter(([, ms]) => ms > 0).sort(([a], [b]) => rank(b) - rank(a));
  const result: Stretch[] = [];
  // Another node's clock may be ahead of ours: what it began is not cut short.
  let start = present[0] && present[0].starts_at > clock ? present[0].starts_at : clock;
  for (const [tier, milliseconds] of highestFirst) {
    if (start >= LIFETIME) break;
    const end = milliseconds === Infinity ? LIFETIME : new Date(start.getTime() + milliseconds);
    if (milliseconds !== Infinity && end >= LIFETIME) return undefined;
    result.push({ tier, starts_at: start, ends_at: end });
    start = end;
  }
  return result;
}

/** Milliseconds that are left of a stretch; infinite for a lifetime. */
function remaining(stretch: Stretch, clock: Date): number {
  if (stretch.ends_at >= LIFETIME) return Infinity;
  return Math.max(0, stretch.ends_at.getTime() - Math.max(stretch.starts_at.getTime(), clock.getTime()));
}
