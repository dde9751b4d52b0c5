import type { Knex } from 'knex';
import { fromKnex, type PgBoss } from 'pg-boss';
import type { Database } from '../database/index.ts';
import { createRowResealer } from '../database/reseal.ts';
import type { Keyring } from '../keyring.ts';
import type { Logger } from '../logger.ts';
import type { GiveUp, JobRequest, QueueName, Worker } from './job.ts';
import { sealedPayloads } from './payload-store.ts';
import { createBoss } from './pg-boss.ts';
import { createQueueWorker, type QueueWorker } from './queue-worker.ts';

export type { GiveUp, JobRequest, QueueName, Worker } from './job.ts';
export { installJobs } from './pg-boss.ts';

/**
 * Queues in the database whose jobs all nodes process. A request names a key, and one request of a key is processed at
 * a time, at least once: if a process dies, another one takes over its jobs 10 to 16 s later.
 */
export interface Jobs {
  /**
   * Adds requests to a queue. Work begins after the commit of the caller's transaction; after `stop`, in other
   * processes.
   * @returns false before the first `start`: nothing was added, and the caller must find later what is left to do
   */
  send(db: Knex, queue: QueueName, requests: readonly JobRequest[]): Promise<boolean>;
  /**
   * Starts to process a queue.
   * @param concurrency how many keys this process works on at once
   * @param giveUp called with a job that has failed for the last time, before the queue deletes it
   * @returns stops: running jobs have 3 s to end, then they are aborted
   */
  start(
    queue: QueueName,
    concurrency: number,
    worker: Worker,
    giveUp?: GiveUp,
  ): Promise<{ stop(): Promise<void> }>;
  /**
   * For a queue whose payloads are sealed, in base64: reseals those that wait under the current master key.
   * @param context the context that a key's payload is sealed with
   * @returns a function that reseals the next batch and returns how many it found; 0 at the end
   */
  createResealer(queue: QueueName, keyring: Keyring, context: (key: string) => string): () => Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly listen: Database['listen'];
  readonly logger: Logger;
}

export function createJobs({ knex, listen, logger }: Dependencies): Jobs {
  /** Shared by all queues of this process, from the first start to the last stop. */
  let common: Common | undefined;
  // After a stop, it can still insert jobs.
  let boss: PgBoss | undefined;

  function begin(): Common {
    const queueWorkers = new Map<QueueWorker, QueueName>();
    // One connection for all queues: a notification names its queue.
    const wakeWorkers = (named: string | undefined) => {
      for (const [{ wake }, queue] of queueWorkers) if (named === undefined || named === queue) wake();
    };
    const started = createBoss(
      { ...fromKnex(knex), listen: async (channel) => listen([channel], (_, named) => wakeWorkers(named)) },
      true,
      logger,
    );
    return { boss: started, queueWorkers, ready: started.start() };
  }

  return {
    async send(db, queue, requests) {
      if (!boss) return false;
      if (requests.length === 0) return true;
      // Sorted, so that two inserts of the same keys cannot deadlock.
      const sorted = requests.toSorted((a, b) => (a.key < b.key ? -1 : 1));
      const jobs = sorted.map(({ key, slow, payload }) => ({
        data: { key, payload },
        singletonKey: key,
        group: { id: key },
        priority: slow ? -1 : 0,
      }));
      await boss.insert(queue, jobs as never, { db: fromKnex(db) });
      return true;
    },

    async start(queue, concurrency, worker, giveUp) {
      const shared = (common ??= begin());
      const queueWorker = createQueueWorker(shared.boss, queue, { concurrency, worker, giveUp, logger });
      shared.queueWorkers.set(queueWorker, queue);
      async function stop(): Promise<void> {
        await queueWorker.stop();
        shared.queueWorkers.delete(queueWorker);
        if (shared.queueWorkers.size > 0) return;
        if (common === shared) common = undefined;
        await shared.boss.stop({ graceful: false, close: false });
      }
      try {
        await shared.ready;
      } catch (error) {
        await stop();
        throw error;
      }
      boss = shared.boss;
      queueWorker.begin();
      return { stop };
    },

    createResealer: (queue, keyring, context) =>
      createRowResealer(keyring, sealedPayloads(knex, queue, context)),
  };
}

interface Common {
  readonly boss: PgBoss;
  /** The workers with their queues. */
  readonly queueWorkers: Map<QueueWorker, QueueName>;
  /** Resolves when `boss` has started. */
  readonly ready: Promise<unknown>;
}
