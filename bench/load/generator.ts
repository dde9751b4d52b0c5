import { createHistogram } from 'node:perf_hooks';
import { answerQuestions, type Child } from '../child.ts';
import type { App } from '../data.ts';
import { openConnection, type Answer } from './connection.ts';
import { requestMaker, type Mix } from './requests.ts';

/** What to load, and how hard. */
export interface LoadOrder {
  readonly app: App;
  readonly port: number;
  readonly mix: Mix;
  readonly connections: number;
  readonly ms: number;
}

export interface LoadResult {
  readonly seconds: number;
  /** Answers that are right. */
  readonly right: number;
  /** 429: the service refused to queue the request. */
  readonly refused: number;
  /** All others, with the first of them. */
  readonly wrong: number;
  readonly firstWrong: Answer | undefined;
  /** Milliseconds of the right answers. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of processor time that the generator itself used. */
  readonly usage: number;
}

/** The process that makes load. */
export type LoadGenerator = Child<LoadOrder, LoadResult>;

const EXPECTED: Readonly<Record<Mix, string>> = {
  tokens: '"valid":true',
  handles: '"valid":true',
  machines: '"valid":true',
  logins: '"session_id":"',
};

let makers: { readonly appId: string; readonly make: (mix: Mix) => string } | undefined;

/** Keeps every connection busy with one request at a time, and looks at every answer. A wrong one ends it. */
async function load({ app, port, mix, connections, ms }: LoadOrder): Promise<LoadResult> {
  if (makers?.appId !== app.app_id) makers = { appId: app.app_id, make: requestMaker(app) };
  const { make } = makers;
  const microseconds = createHistogram();
  const counts = { right: 0, refused: 0, wrong: 0 };
  let firstWrong: Answer | undefined;
  const usage = process.cpuUsage();
  const start = performance.now();

  const run = () =>
    new Promise<void>((resolve, reject) => {
      let sent = 0;
      const next = () => {
        sent = performance.now();
        connection.send(make(mix));
      };
      const connection = openConnection(
        port,
        (answer) => {
          const now = performance.now();
          if (answer.status === 200 && answer.body.includes(EXPECTED[mix])) {
            counts.right += 1;
            microseconds.record(Math.max(1, Math.round((now - sent) * 1000)));
          } else if (answer.status === 429) {
            counts.refused += 1;
          } else {
            counts.wrong += 1;
            firstWrong ??= answer;
          }
          if (now - start < ms && !firstWrong) return next();
          connection.close();
          resolve();
        },
        reject,
      );
      next();
    });
  await Promise.all(Array.from({ length: connections }, run));

  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(usage);
  const percentile = (percent: number) => (counts.right ? microseconds.percentile(percent) / 1000 : NaN);
  return { seconds, ...counts, firstWrong, p50: percentile(50), p99: percentile(99), usage: user + system };
}

answerQuestions(load);
