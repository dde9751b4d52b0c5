import { setTimeout as delay } from 'node:timers/promises';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import { isUnavailable } from '../database/index.ts';
import type { Logger } from '../logger.ts';
import { startPeriodicTask } from '../periodic-task.ts';
import type { GiveUp, QueueName, Worker } from './job.ts';

const HEARTBEAT_MS = 3_000;
/** Notifications bring work at once; this is for those that get lost, and for work whose time comes. */
const LOOK_MS = 2_000;
const SETTLE_PAUSE_MS = 500;
const FINISH_WITHIN_MS = 3_000;
const ABORT_WITHIN_MS = 2_000;

/** What works on a queue in this process. */
export type QueueWorker = ReturnType<typeof createQueueWorker>;

interface Data {
  readonly key: string;
  readonly payload?: string;
}

type Task = JobWithMetadata<Data>;

/** Works on a queue, once it is told to begin. */
export function createQueueWorker(
  boss: PgBoss,
  queue: QueueName,
  {
    concurrency,
    worker,
    giveUp,
    logger,
  }: {
    readonly concurrency: number;
    readonly worker: Worker;
    readonly giveUp: GiveUp | undefined;
    readonly logger: Logger;
  },
) {
  const running = new Map<
    string,
    { readonly task: Task; readonly slow: boolean; readonly done: Promise<void> }
  >();
  const aborting = new AbortController();
  const closing = new AbortController();
  let begun = false;

  /** Tells the queue how a task ended, for as long as the database is gone. */
  async function settle(logFailure: () => Promise<unknown>): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await logFailure();
        return;
      } catch (error) {
        logger.debug({ err: error }, 'the end of a job is told once more');
        await delay(SETTLE_PAUSE_MS, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      }
    }
  }

  // Where something is kept of what is given up, one attempt is left to a process that is killed before it has done so.
  const isLast = ({ retryCount, retryLimit }: Task) => retryCount >= retryLimit - (giveUp ? 1 : 0);

  function tell(task: Task, error: unknown): void {
    const { key } = task.data;
    if (isLast(task)) logger.error({ err: error, queue, key }, 'a job failed and is given up');
    else if (!isUnavailable(error)) {
      logger.warn({ err: error, queue, key }, 'a job failed and is done again');
    }
  }

  async function run(task: Task): Promise<void> {
    try {
      await worker(task.data.key, aborting.signal, task.data.payload ?? '');
      await settle(() => boss.complete(queue, task));
    } catch (error) {
      if (aborting.signal.aborted) await settle(() => boss.fail(queue, task));
      else {
        tell(task, error);
        await settle(() => (giveUp && isLast(task) ? end(task, giveUp, error) : boss.fail(queue, task)));
      }
    } finally {
      running.delete(task.id);
      taking.wake();
    }
  }

  async function end(task: Task, keep: GiveUp, error: unknown): Promise<unknown> {
    const { key, payload = '' } = task.data;
    try {
      await keep(key, payload, error);
    } catch (fault) {
      if (isUnavailable(fault)) throw fault;
      logger.error({ err: fault, queue, key }, 'nothing is kept of a job that is given up');
    }
    return boss.complete(queue, task);
  }

  async function take(): Promise<boolean> {
    const free = concurrency - running.size;
    if (!begun || free <= 0) return false;
    const slow = [...running.values()].filter((each) => each.slow).length;
    const slowFree = Math.floor(concurrency / 2) - slow;
    const normal = await boss.fetch<Data>(queue, {
      includeMetadata: true,
      batchSize: free,
      groupConcurrency: 1,
      minPriority: 0,
    });
    launch(normal, false);
    const left = Math.min(free - normal.length, slowFree);
    if (left <= 0) return normal.length > 0;
    const others = await boss.fetch<Data>(queue, {
      includeMetadata: true,
      batchSize: left,
      groupConcurrency: 1,
      maxPriority: -1,
    });
    launch(others, true);
    return normal.length + others.length > 0;
  }

  function launch(tasks: readonly Task[], slow: boolean): void {
    for (const task of tasks) running.set(task.id, { task, slow, done: run(task) });
  }

  const taking = startPeriodicTask(
    take,
    (error) => logger.debug({ err: error }, 'the taking of jobs was put off'),
    {
      intervalMs: LOOK_MS,
    },
  );
  const heartbeat = setInterval(() => {
    if (running.size === 0) return;
    boss
      .touch(
        queue,
        [...running.values()].map(({ task }) => task),
      )
      .catch((error: unknown) => logger.debug({ err: error }, 'a heartbeat was left out'));
  }, HEARTBEAT_MS);
  heartbeat.unref();

  const allDone = () => Promise.all([...running.values()].map(({ done }) => done));
  const within = (ms: number) => Promise.race([allDone(), delay(ms, undefined, { ref: false })]);

  return {
    wake: () => taking.wake(),
    begin() {
      begun = true;
      taking.wake();
    },
    async stop() {
      await taking.stop();
      await within(FINISH_WITHIN_MS);
      aborting.abort();
      await within(ABORT_WITHIN_MS);
      closing.abort();
      clearInterval(heartbeat);
    },
  };
}
