/** The time of a new fact: now, or 1 ms after the previous fact if that is not earlier than now. */
export function nextAsOf(before: Date | null, now: Date): Date {
  return before && before >= now ? new Date(before.getTime() + 1) : now;
}
