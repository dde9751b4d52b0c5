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
 * Queues in the database, worked on by every node. Work is asked for by key, and of one key one request is worked on at a
 * time, at least once, whatever is killed: work whose worker is gone is taken up by another one 10 to 16 s later.
 */
export interface Jobs {
  /**
   * Asks for work, which begins when the caller's transaction has ended; after `stop` it is left to others.
   * @returns whether it was asked for. Before the first `start` it is not: whoever needs it must look by himself for what is
   *   left to do
   */
  send(db: Knex, queue: QueueName, requests: readonly JobRequest[]): Promise<boolean>;
  /**
   * Begins to work.
   * @param concurrency how many keys this process works on at once
   * @param giveUp told of work that has failed for the last time, before the queue forgets it
   * @returns stops: work gets 3 s to end, then it is aborted
   */
  start(
    queue: QueueName,
    concurrency: number,
    worker: Worker,
    giveUp?: GiveUp,
  ): Promise<{ stop(): Promise<void> }>;
  /**
   * For a queue whose payloads are sealed, in base64: seals those that wait anew under the current master key.
   * @param context under which the payload of a key is sealed
   * @returns does the next part, and returns how many it found; 0 at the end
   */
  createResealer(queue: QueueName, keyring: Keyring, context: (key: string) => string): () => Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly listen: Database['listen'];
  readonly logger: Logger;
}

export function createJobs({ knex, listen, logger }: Dependencies): Jobs {
  /** What all queues of this process have in common, from the first start to the last stop. */
  let common: Common | undefined;
  // One that was stopped still knows how to ask.
  let boss: PgBoss | undefined;

  function begin(): Common {
    const queueWorkers = new Map<QueueWorker, QueueName>();
    // One connection for all queues: a notification names the one that it is about.
    const hear = (named: string | undefined) => {
      for (const [{ wake }, queue] of queueWorkers) if (named === undefined || named === queue) wake();
    };
    const started = createBoss(
      { ...fromKnex(knex), listen: async (channel) => listen([channel], (_, named) => hear(named)) },
      true,
      logger,
    );
    return { boss: started, queueWorkers, ready: started.start() };
  }

  return {
    async send(db, queue, requests) {
      if (!boss) return false;
      if (requests.length === 0) return true;
      // In one order, so that two who ask for the same keys never wait for each other.
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
  /** Who works, and on which queue. */
  readonly queueWorkers: Map<QueueWorker, QueueName>;
  /** Whether it has begun. */
  readonly ready: Promise<unknown>;
}
