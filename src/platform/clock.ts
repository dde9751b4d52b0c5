/** Where the time comes from. Passed in everywhere, so that tests decide what time it is. */
export interface Clock {
  /** The present moment. */
  now(): Date;
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => new Date() };
