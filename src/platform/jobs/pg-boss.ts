import type { Knex } from 'knex';
import { fromKnex, PgBoss } from 'pg-boss';
import type { Logger } from '../logger.ts';
import { StartupError } from '../startup-error.ts';
import type { QueueName } from './job.ts';

/** Of the database: what the library has there. */
export const SCHEMA = 'pgboss';
const NOT_ALLOWED = '42501';

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
  // Some seconds later, then twice as late each time, up to two hours: for about a day. The last retry is for a process that was
  // killed while it gave up.
  mails: {
    ...COMMON,
    policy: 'standard',
    retryLimit: 24,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 7_200,
  },
} as const satisfies Record<QueueName, object>;
const SUPERVISE_SECONDS = 5;
const CLEAR_SECONDS = 300;
const SELDOM_SECONDS = 3_600;

type BossDatabase = ReturnType<typeof fromKnex>;

/**
 * The library of the queues, over a database.
 * @param supervise whether it looks after the queues, as those do who work on them
 */
export function createBoss(db: BossDatabase, supervise: boolean, logger: Logger): PgBoss {
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
