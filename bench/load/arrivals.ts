import { createHistogram } from 'node:perf_hooks';
import { latencyOf, type Latency } from './tally.ts';

const WITHIN_MS = 20_000;

/** When a change was requested and when its response came, by `performance.now()`. */
export interface Change {
  requested: number;
  /** Infinity until it is known: an event received earlier took no time. */
  received: number;
}

/** Measures how changes arrive. */
export interface Arrivals {
  /** Records that something was received: an event of the change, if that is known. */
  count(change?: Change): void;
  readonly received: number;
  /** Resolves when this many were received. @throws Error when they do not come */
  reach(expected: number): Promise<void>;
  /** From the request and from its response to receipt; undefined without any. */
  latencies(): { readonly fromRequest: Latency | undefined; readonly fromResponse: Latency | undefined };
}

export function countArrivals(): Arrivals {
  const fromRequest = createHistogram();
  const fromResponse = createHistogram();
  const microseconds = (ms: number) => Math.max(1, Math.round(ms * 1000));
  let received = 0;
  let awaited: { readonly expected: number; readonly resolve: () => void } | undefined;
  return {
    count(change) {
      received += 1;
      if (change) {
        const now = performance.now();
        fromRequest.record(microseconds(now - change.requested));
        fromResponse.record(microseconds(now - change.received));
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
    latencies: () => ({ fromRequest: latencyOf(fromRequest), fromResponse: latencyOf(fromResponse) }),
  };
}
