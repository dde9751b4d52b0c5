/** When a lifetime ends, in the database and in responses: the last millisecond of the year 9999. */
export const LIFETIME = new Date('9999-12-31T23:59:59.999Z');

export interface Pause {
  /** Since when the application is paused; null when it is not. */
  readonly pausedAt: Date | null;
  /** Total duration of past pauses, in milliseconds. */
  readonly pausedTotalMs: number;
}

/**
 * The application's subscription clock, which stops while the application is paused. Subscriptions are
 * measured by it, so that the end of a pause returns the time to every user at once.
 */
export function subscriptionClock(pause: Pause, now: Date): Date {
  const running = pause.pausedAt && pause.pausedAt < now ? pause.pausedAt : now;
  return new Date(running.getTime() - pause.pausedTotalMs);
}

/** Converts a time of the subscription clock to wall time, if the application is not paused again. */
export function toWallTime(moment: Date, pause: Pause, now: Date): Date {
  if (moment >= LIFETIME) return LIFETIME;
  const behind = now.getTime() - subscriptionClock(pause, now).getTime();
  return new Date(Math.min(moment.getTime() + behind, LIFETIME.getTime()));
}

/** Converts a wall time to the subscription clock: the opposite of `toWallTime`. */
export function toSubscriptionClock(moment: Date, pause: Pause, now: Date): Date {
  if (moment >= LIFETIME) return LIFETIME;
  const behind = now.getTime() - subscriptionClock(pause, now).getTime();
  return new Date(moment.getTime() - behind);
}

export type ApplicationStatus = 'active' | 'paused' | 'disabled';

/** The status and pause of an application after a change of status. */
export function changeStatus(
  application: Pause & { readonly status: ApplicationStatus },
  wanted: ApplicationStatus,
  now: Date,
): Pause & { readonly status: ApplicationStatus } {
  const { pausedAt, pausedTotalMs, status } = application;
  if (status === wanted) return { status, pausedAt, pausedTotalMs };
  const ended = pausedAt ? Math.max(0, now.getTime() - pausedAt.getTime()) : 0;
  return {
    status: wanted,
    pausedAt: wanted === 'paused' ? now : null,
    pausedTotalMs: pausedTotalMs + ended,
  };
}

/**
 * An application that is disabled because its developer is suspended. A pause continues, so that users of a paused
 * application do not lose the time of the suspension.
 */
export function disableForSuspension(pause: Pause): Pause & { readonly status: ApplicationStatus } {
  return { status: 'disabled', pausedAt: pause.pausedAt, pausedTotalMs: pause.pausedTotalMs };
}

/** The same application after the suspension, with the status that it had before: a pause that continued stays. */
export function restoreAfterSuspension(
  application: Pause & { readonly status: ApplicationStatus },
  before: ApplicationStatus,
  now: Date,
): Pause & { readonly status: ApplicationStatus } {
  const { pausedAt, pausedTotalMs } = application;
  if (before !== 'paused' || pausedAt === null) return changeStatus(application, before, now);
  return { status: 'paused', pausedAt, pausedTotalMs };
}

/** Whether the previous secret is still valid: before its end, but not at it. */
export function isTakenUntil(until: Date | null, now: Date): boolean {
  return until !== null && until > now;
}
