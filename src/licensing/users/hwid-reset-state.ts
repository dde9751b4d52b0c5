const DAY_MS = 86_400_000;

/** The minimum time between two resets of a user's machine: 7 days of 24 hours. */
const BETWEEN_RESETS_MS = 7 * DAY_MS;

/** When a user can reset the machine again. */
export function nextReset(lastReset: Date): Date {
  return new Date(lastReset.getTime() + BETWEEN_RESETS_MS);
}
