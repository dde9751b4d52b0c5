import { createHistogram } from 'node:perf_hooks';
import { latencyOf, type Latency } from './tally.ts';

const WITHIN_MS = 20_000;

/** When a change was asked for and when its answer came, by `performance.now()`. */
export interface Change {
  requested: number;
  /** Infinity until it is there: an event that is received before it took no time. */
  answered: number;
}

/** What has come of changes. */
export interface Arrivals {
  /** Something has been received: an event of the change, when that is known. */
  count(change?: Change): void;
  readonly received: number;
  /** Resolves when so many were received. @throws Error when they do not come */
  reach(expected: number): Promise<void>;
  /** From the request and from its answer to receipt; undefined when there is none. */
  latencies(): { readonly fromRequest: Latency | undefined; readonly fromAnswer: Latency | undefined };
}

export function countArrivals(): Arrivals {
  const fromRequest = createHistogram();
  const fromAnswer = createHistogram();
  const microseconds = (ms: number) => Math.max(1, Math.round(ms * 1000));
  let received = 0;
  let awaited: { readonly expected: number; readonly resolve: () => void } | undefined;
  return {
    count(change) {
      received += 1;
      if (change) {
        const now = performance.now();
        fromRequest.record(microseconds(now - change.requested));
        fromAnswer.record(microseconds(now - change.answered));
      }
      if (awaited && received >= awaited.expected) awaited.resolve();
    },
    get received() {
      return received;
    },
    async reach(expected) {
      if (received >= expected) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      awaited = { expected, resolve };
      const late = setTimeout(() => reject(new Error(`only ${received} of ${expected} arrived`)), WITHIN_MS);
      await promise.finally(() => clearTimeout(late));
    },
    latencies: () => ({ fromRequest: latencyOf(fromRequest), fromAnswer: latencyOf(fromAnswer) }),
  };
}
