import { setImmediate } from 'node:timers/promises';

/** Work that goes on for so long holds up everybody else; a request may be held up by some of it. */
const LONGEST_MS = 8;

/**
 * Lets other requests be served during long work that waits for nothing: call it, and wait for it, in each step.
 * @returns to be called in each step: it waits for the event loop when there was no such wait for some milliseconds
 */
export function createBreaths(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < LONGEST_MS) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}
