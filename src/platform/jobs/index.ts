import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { fromKnex, PgBoss, type JobWithMetadata } from 'pg-boss';
import { isUnavailable, type Database } from '../database/index.ts';
import type { Logger } from '../logger.ts';
import { repeatedly } from '../repeatedly.ts';
import { StartupError } from '../startup-error.ts';

const SCHEMA = 'pgboss';
const NOT_ALLOWED = '42501';

/** The queues there are. */
export type QueueName = 'webhooks' | 'mails' | 'security-events';

const COMMON = {
  notify: true,
  // A worker that was killed is noticed when its heartbeat is as old as this, by a look that is taken every 5 s.
  heartbeatSeconds: 10,
  expireInSeconds: 900,
  retentionSeconds: 31_536_000,
  deleteAfterSeconds: 60,
} as const;
/** While a request of a key waits, another one adds nothing. */
const ONE_A_KEY = { ...COMMON, policy: 'short', retryLimit: 10_000, retryDelay: 1 } as const;
const TERMS = {
  webhooks: ONE_A_KEY,
  'security-events': ONE_A_KEY,
  // Some seconds later, then twice as late each time, up to two hours: for about a day.
  mails: {
    ...COMMON,
    policy: 'standard',
    retryLimit: 23,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 7_200,
  },
} as const satisfies Record<QueueName, object>;
const HEARTBEAT_MS = 3_000;
const SUPERVISE_SECONDS = 5;
const CLEAR_SECONDS = 300;
const SELDOM_SECONDS = 3_600;

/** Notifications bring work at once; this is for those that get lost, and for work whose time comes. */
const LOOK_MS = 2_000;
const SETTLE_PAUSE_MS = 500;
const FINISH_WITHIN_MS = 3_000;
const ABORT_WITHIN_MS = 2_000;

export interface JobRequest {
  readonly key: string;
  /** Whether it may take long: of the places for work, slow requests get no more than half. */
  readonly slow: boolean;
  /** What the worker gets beside the key. It is kept in clear text, and for a minute after the work is done. */
  readonly payload?: string;
}

/**
 * Does the work of a key. When it throws, it is done again, as the queue's terms say: `mails` for a day, others after a
 * second.
 * @param signal aborted when this process must end: whoever throws then leaves the work to another one
 * @param payload of the request; empty when it had none
 */
export type Worker = (key: string, signal: AbortSignal, payload: string) => Promise<void>;

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
   * @returns stops: work gets 3 s to end, then it is aborted
   */
  start(queue: QueueName, concurrency: number, worker: Worker): Promise<{ stop(): Promise<void> }>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly listen: Database['listen'];
  readonly logger: Logger;
}

type BossDatabase = ReturnType<typeof fromKnex>;

function createBoss(db: BossDatabase, supervise: boolean, logger: Logger): PgBoss {
  const boss = new PgBoss({
    db,
    schema: SCHEMA,
    supervise,
    schedule: false,
    useListenNotify: db.listen !== undefined,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: CLEAR_SECONDS,
    flowIntervalSeconds: SELDOM_SECONDS,
    bamIntervalSeconds: SELDOM_SECONDS,
    queueCacheIntervalSeconds: SELDOM_SECONDS,
    // The table is small, and our statements have no time for a REINDEX.
    reindex: false,
    monitorVacuum: false,
  });
  boss.on('error', (error) => logger.debug({ err: error }, 'the queue of jobs failed'));
  boss.on('warning', (warning) => logger.debug({ warning }, 'the queue of jobs'));
  return boss;
}

/**
 * Makes the tables of the queue, or brings them to this version's form. Any number of processes may call it at once; an
 * older version works on beside a newer one.
 * @param knex whose statements may take long
 * @throws StartupError when the account must not
 */
export async function installJobs(knex: Knex, logger: Logger): Promise<void> {
  const boss = createBoss(fromKnex(knex), false, logger);
  try {
    await boss.start();
    for (const [queue, terms] of Object.entries(TERMS)) {
      await boss.createQueue(queue, terms);
      const { policy, ...changeable } = terms;
      await boss.updateQueue(queue, changeable);
    }
  } catch (error) {
    if ((error as { code?: string }).code !== NOT_ALLOWED) throw error;
    throw new StartupError(
      `DATABASE_URL: the account may not make the schema ${SCHEMA}: grant it CREATE on the database`,
    );
  } finally {
    await boss.stop({ graceful: false, close: false });
  }
}

export function createJobs({ knex, listen, logger }: Dependencies): Jobs {
  /** What all queues of this process have in common, from the first start to the last stop. */
  let common: Common | undefined;
  // One that was stopped still knows how to ask.
  let boss: PgBoss | undefined;

  function begin(): Common {
    const workings = new Map<Working, QueueName>();
    // One connection for all queues: a notification names the one that it is about.
    const hear = (named: string | undefined) => {
      for (const [{ wake }, queue] of workings) if (named === undefined || named === queue) wake();
    };
    const started = createBoss(
      { ...fromKnex(knex), listen: async (channel) => listen([channel], (_, named) => hear(named)) },
      true,
      logger,
    );
    return { boss: started, workings, ready: started.start() };
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

    async start(queue, concurrency, worker) {
      const shared = (common ??= begin());
      const working = workOn(shared.boss, queue, { concurrency, worker, logger });
      shared.workings.set(working, queue);
      async function stop(): Promise<void> {
        await working.stop();
        shared.workings.delete(working);
        if (shared.workings.size > 0) return;
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
      working.begin();
      return { stop };
    },
  };
}

interface Common {
  readonly boss: PgBoss;
  /** Who works, and on which queue. */
  readonly workings: Map<Working, QueueName>;
  /** Whether it has begun. */
  readonly ready: Promise<unknown>;
}

type Working = ReturnType<typeof workOn>;

interface Data {
  readonly key: string;
  readonly payload?: string;
}

type Task = JobWithMetadata<Data>;

function workOn(
  boss: PgBoss,
  queue: QueueName,
  {
    concurrency,
    worker,
    logger,
  }: { readonly concurrency: number; readonly worker: Worker; readonly logger: Logger },
) {
  const running = new Map<
    string,
    { readonly task: Task; readonly slow: boolean; readonly done: Promise<void> }
  >();
  const aborting = new AbortController();
  const closing = new AbortController();
  let begun = false;

  /** Tells the queue how a task ended, for as long as the database is gone. */
  async function settle(tell: () => Promise<unknown>): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await tell();
        return;
      } catch (error) {
        logger.debug({ err: error }, 'the end of a job is told once more');
        await delay(SETTLE_PAUSE_MS, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      }
    }
  }

  function tell({ retryCount, retryLimit, data: { key } }: Task, error: unknown): void {
    if (retryCount >= retryLimit) logger.error({ err: error, queue, key }, 'a job failed and is given up');
    else if (!isUnavailable(error)) {
      logger.warn({ err: error, queue, key }, 'a job failed and is done again');
    }
  }

  async function run(task: Task): Promise<void> {
    try {
      await worker(task.data.key, aborting.signal, task.data.payload ?? '');
      await settle(() => boss.complete(queue, task));
    } catch (error) {
      if (!aborting.signal.aborted) tell(task, error);
      await settle(() => boss.fail(queue, task));
    } finally {
      running.delete(task.id);
      taking.wake();
    }
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

  const taking = repeatedly(take, (error) => logger.debug({ err: error }, 'the taking of jobs was put off'), {
    pauseMs: LOOK_MS,
  });
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
