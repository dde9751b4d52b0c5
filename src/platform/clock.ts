/** The source of the current time. It is a parameter everywhere, so that tests decide what time it is. */
export interface Clock {
  /** The current time. */
  now(): Date;
}

/** Milliseconds on a monotonic timer of the machine, unaffected by changes of its clock. */
export const systemTimer = (): number => performance.now();

/** The clock of the machine. */
export const systemClock: Clock = { now: () => new Date() };
