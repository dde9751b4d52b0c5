import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Answer } from './connection.ts';

/** How long answers took, in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Answers by what they are worth. */
export interface Counts {
  /** Right ones. */
  readonly right: number;
  /** 429 with Retry-After, where the order allows it: the service did not take the request on. */
  readonly refused: number;
  /** All others, with the first of them. */
  readonly wrong: number;
  readonly firstWrong: Pick<Answer, 'status' | 'body'> | undefined;
  /** Of right answers; undefined when there is none. */
  readonly latency: Latency | undefined;
  /** Of refusals; undefined when there is none. */
  readonly refusal: Latency | undefined;
}

/** Looks at every answer. */
export interface Tally {
  count(answer: Answer, milliseconds: number): void;
  /** Whether an answer was wrong: nothing that is measured from then on counts. */
  readonly broken: boolean;
  result(): Counts;
}

/**
 * @param right what only a right answer contains
 * @param mayRefuse whether a 429 with Retry-After is no fault
 */
export function createTally(right: string, mayRefuse: boolean): Tally {
  const answered = createHistogram();
  const refused = createHistogram();
  let wrong = 0;
  let firstWrong: Counts['firstWrong'];

  const isRight = ({ status, body }: Answer) => status === 200 && body.includes(right);
  const isRefusal = ({ status, head }: Answer) =>
    mayRefuse && status === 429 && /^Retry-After: \d/im.test(head);

  return {
    count(answer, milliseconds) {
      const microseconds = Math.max(1, Math.round(milliseconds * 1000));
      if (isRight(answer)) answered.record(microseconds);
      else if (isRefusal(answer)) refused.record(microseconds);
      else {
        wrong += 1;
        firstWrong ??= { status: answer.status, body: answer.body };
      }
    },
    get broken() {
      return wrong > 0;
    },
    result: () => ({
      right: answered.count,
      refused: refused.count,
      wrong,
      firstWrong,
      latency: latencyOf(answered),
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
