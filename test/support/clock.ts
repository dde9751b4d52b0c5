import type { Clock } from '../../src/platform/clock.ts';

export const SECOND = 1000;
export const DAY = 86_400 * SECOND;

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  #now: number;

  constructor(start = '2026-11-21T10:00:00.000Z') {
    this.#now = Date.parse(start);
  }

  now(): Date {
    return new Date(this.#now);
  }

  /** @param milliseconds how far to advance */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
