const DAY_MS = 86_400_000;

/** How long a user waits from one reset of his machine to the next: 7 days of 24 hours. */
const BETWEEN_RESETS_MS = 7 * DAY_MS;

/** From when on a user can reset his machine again. */
export function nextReset(lastReset: Date): Date {
  return new Date(lastReset.getTime() + BETWEEN_RESETS_MS);
}
