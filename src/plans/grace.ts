/** How long the users of a developer go on as before when his paid plan has ended. */
export const GRACE_MS = 14 * 24 * 60 * 60 * 1000;

/** When the time is over in which the users of a developer whose plan has lapsed go on as before. */
export function graceEnd(lapsedAt: Date): Date {
  return new Date(lapsedAt.getTime() + GRACE_MS);
}
