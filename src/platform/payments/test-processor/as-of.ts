/** The time of a new fact: the present, but later than the fact before it, even within one millisecond. */
export function nextAsOf(before: Date | null, now: Date): Date {
  return before && before >= now ? new Date(before.getTime() + 1) : now;
}
