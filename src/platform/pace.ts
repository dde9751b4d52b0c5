import { setImmediate as nextTurn } from 'node:timers/promises';

/** Well under what a request should have to wait for the processor. */
const HELD_AT_MOST_MS = 10;

/**
 * For long work in small steps: awaited after each step, it gives the event loop to others whenever the work has held it
 * for 10 ms.
 */
export function createPace(): () => Promise<void> | void {
  let since = performance.now();
  return () => {
    if (performance.now() - since < HELD_AT_MOST_MS) return;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}
