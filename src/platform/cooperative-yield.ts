import { setImmediate as nextIteration } from 'node:timers/promises';

/** Well below what a request should have to wait for the processor. */
const MAX_BLOCKING_MS = 10;

/**
 * For long work in small steps: when awaited after each step, it lets the event loop run other work whenever this work
 * has blocked it for 10 ms.
 */
export function createCooperativeYield(): () => Promise<void> | void {
  let since = performance.now();
  return () => {
    if (performance.now() - since < MAX_BLOCKING_MS) return;
    return nextIteration().then(() => {
      since = performance.now();
    });
  };
}
