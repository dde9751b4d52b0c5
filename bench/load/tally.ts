import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { RawResponse } from './connection.ts';

/** How long responses took, in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Responses by their result. */
export interface Counts {
  /** Right ones. */
  readonly right: number;
  /** 429 with Retry-After, where the order allows it: the service did not take the request on. */
  readonly refused: number;
  /** All others, with the first of them. */
  readonly wrong: number;
  readonly firstWrong: Pick<RawResponse, 'status' | 'body'> | undefined;
  /** Of right responses; undefined without any. */
  readonly latency: Latency | undefined;
  /** Of refusals; undefined without any. */
  readonly refusal: Latency | undefined;
}

/** Looks at every response. */
export interface Tally {
  count(response: RawResponse, milliseconds: number): void;
  /** Whether a response was wrong: no measurement counts after it. */
  readonly broken: boolean;
  result(): Counts;
}

/**
 * @param right what only a right response contains
 * @param mayRefuse whether a 429 with Retry-After is no fault
 */
export function createTally(right: string, mayRefuse: boolean): Tally {
  const received = createHistogram();
  const refused = createHistogram();
  let wrong = 0;
  let firstWrong: Counts['firstWrong'];

  const isRight = ({ status, body }: RawResponse) => status === 200 && body.includes(right);
  const isRefusal = ({ status, head }: RawResponse) =>
    mayRefuse && status === 429 && /^Retry-After: \d/im.test(head);

  return {
    count(response, milliseconds) {
      const microseconds = Math.max(1, Math.round(milliseconds * 1000));
      if (isRight(response)) received.record(microseconds);
      else if (isRefusal(response)) refused.record(microseconds);
      else {
        wrong += 1;
        firstWrong ??= { status: response.status, body: response.body };
      }
    },
    get broken() {
      return wrong > 0;
    },
    result: () => ({
      right: received.count,
      refused: refused.count,
      wrong,
      firstWrong,
      latency: latencyOf(received),
      refusal: latencyOf(refused),
    }),
  };
}

/** @returns undefined when nothing was recorded */
export function latencyOf(microseconds: RecordableHistogram): Latency | undefined {
  if (microseconds.count === 0) return undefined;
  const percentile = (percent: number) => microseconds.percentile(percent) / 1000;
  return { p50: percentile(50), p99: percentile(99), max: microseconds.max / 1000 };
}
