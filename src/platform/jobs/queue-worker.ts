import { setTimeout as delay } from 'node:timers/promises';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import { isUnavailable } from '../database/index.ts';
import type { Logger } from '../logger.ts';
import { startPeriodicTask } from '../periodic-task.ts';
import type { GiveUp, QueueName, Worker } from './job.ts';

const HEARTBEAT_MS = 3_000;
/** Notifications start work immediately; polling is for lost notifications and for retries that come due. */
const POLL_INTERVAL_MS = 2_000;
const SETTLE_PAUSE_MS = 500;
const FINISH_TIMEOUT_MS = 3_000;
const ABORT_TIMEOUT_MS = 2_000;

/** The worker of a queue in this process. */
export type QueueWorker = ReturnType<typeof createQueueWorker>;

interface Data {
  readonly key: string;
  readonly payload?: string;
}

type Task = JobWithMetadata<Data>;

/** Processes a queue after `begin`. */
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

  /** Stores how a task ended, with retries while the database is unavailable. */
  async function settle(store: () => Promise<unknown>): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await store();
        return;
      } catch (error) {
        logger.debug({ err: error }, 'the result of a job was not stored and is retried');
        await delay(SETTLE_PAUSE_MS, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      }
    }
  }

  // With a `giveUp`, one attempt is reserved for a process that is killed before `giveUp` is complete.
  const isLast = ({ retryCount, retryLimit }: Task) => retryCount >= retryLimit - (giveUp ? 1 : 0);

  function logFailure(task: Task, error: unknown): void {
    const { key } = task.data;
    if (isLast(task)) logger.error({ err: error, queue, key }, 'a job failed and is given up');
    else if (!isUnavailable(error)) {
      logger.warn({ err: error, queue, key }, 'a job failed and is retried');
    }
  }

  async function run(task: Task): Promise<void> {
    try {
      await worker(task.data.key, aborting.signal, task.data.payload ?? '');
      await settle(() => boss.complete(queue, task));
    } catch (error) {
      if (aborting.signal.aborted) await settle(() => boss.fail(queue, task));
      else {
        logFailure(task, error);
        await settle(() => (giveUp && isLast(task) ? end(task, giveUp, error) : boss.fail(queue, task)));
      }
    } finally {
      running.delete(task.id);
      taking.wake();
    }
  }

  async function end(task: Task, record: GiveUp, error: unknown): Promise<unknown> {
    const { key, payload = '' } = task.data;
    try {
      await record(key, payload, error);
    } catch (fault) {
      if (isUnavailable(fault)) throw fault;
      logger.error({ err: fault, queue, key }, 'a job that is given up could not be recorded');
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
    (error) => logger.debug({ err: error }, 'jobs could not be fetched'),
    {
      intervalMs: POLL_INTERVAL_MS,
    },
  );
  const heartbeat = setInterval(() => {
    if (running.size === 0) return;
    boss
      .touch(
        queue,
        [...running.values()].map(({ task }) => task),
      )
      .catch((error: unknown) => logger.debug({ err: error }, 'a heartbeat failed'));
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
      await within(FINISH_TIMEOUT_MS);
      aborting.abort();
      await within(ABORT_TIMEOUT_MS);
      closing.abort();
      clearInterval(heartbeat);
    },
  };
}
