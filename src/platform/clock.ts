/** Where the time comes from. Passed in everywhere, so that tests decide what time it is. */
export interface Clock {
  /** The present moment. */
  now(): Date;
}

/** Milliseconds on a timer of the machine that only goes forward, whatever is done to its clock. */
export const systemTimer = (): number => performance.now();

/** The clock of the machine. */
export const systemClock: Clock = { now: () => new Date() };
