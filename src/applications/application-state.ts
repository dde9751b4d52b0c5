/** When a lifetime ends, in the database and on the wire: the last millisecond of year 9999. */
export const LIFETIME = new Date('9999-12-31T23:59:59.999Z');

export interface Pause {
  /** Since when the application is paused; null when it is not. */
  readonly pausedAt: Date | null;
  /** Milliseconds of all pauses that have ended. */
  readonly pausedTotalMs: number;
}

/**
 * The application's subscription clock: it stands still while the application is paused. Subscriptions are kept on
 * it, so that ending a pause gives the time back to every user at once.
 */
export function subscriptionClock(pause: Pause, now: Date): Date {
  const running = pause.pausedAt && pause.pausedAt < now ? pause.pausedAt : now;
  return new Date(running.getTime() - pause.pausedTotalMs);
}

/** When a moment of the subscription clock comes, if the application is not paused from now on. */
export function toWallTime(moment: Date, pause: Pause, now: Date): Date {
  if (moment >= LIFETIME) return LIFETIME;
  const behind = now.getTime() - subscriptionClock(pause, now).getTime();
  return new Date(Math.min(moment.getTime() + behind, LIFETIME.getTime()));
}

export type ApplicationStatus = 'active' | 'paused' | 'disabled';

/** How an application's status and pause follow from a wanted status. */
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

/** Whether the secret from before the last rotation is still taken: up to its end, and not at it. */
export function isTakenUntil(until: Date | null, now: Date): boolean {
  return until !== null && until > now;
}
