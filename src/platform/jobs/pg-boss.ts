import type { Knex } from 'knex';
import { fromKnex, PgBoss } from 'pg-boss';
import type { Logger } from '../logger.ts';
import { StartupError } from '../startup-error.ts';
import type { QueueName } from './job.ts';

/** The database schema of the library. */
export const SCHEMA = 'pgboss';
const NOT_ALLOWED = '42501';

const COMMON = {
  notify: true,
  // A worker is considered dead when its heartbeat is this old, which is checked every 5 s.
  heartbeatSeconds: 10,
  expireInSeconds: 900,
  retentionSeconds: 31_536_000,
  deleteAfterSeconds: 60,
} as const;
/** While a request of a key waits, another one has no effect. */
const ONE_PER_KEY = { ...COMMON, policy: 'short', retryLimit: 10_000, retryDelay: 1 } as const;
const TERMS = {
  webhooks: ONE_PER_KEY,
  'security-events': ONE_PER_KEY,
  // A backoff from 5 s to two hours, for about a day. The last retry is for a process that was killed while it gave up.
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
const RARELY_SECONDS = 3_600;

type BossDatabase = ReturnType<typeof fromKnex>;

/**
 * The library of the queues, on a database.
 * @param supervise whether it maintains the queues, as processes with workers do
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
    flowIntervalSeconds: RARELY_SECONDS,
    bamIntervalSeconds: RARELY_SECONDS,
    queueCacheIntervalSeconds: RARELY_SECONDS,
    // The table is small, and a REINDEX would exceed our statement timeout.
    reindex: false,
    monitorVacuum: false,
  });
  boss.on('error', (error) => logger.debug({ err: error }, 'the queue of jobs failed'));
  boss.on('warning', (warning) => logger.debug({ warning }, 'the queue of jobs'));
  return boss;
}

/**
 * Creates or upgrades the tables of the queues. Any number of processes may call it at once, and an older version of
 * the service works alongside a newer one.
 * @param knex one without a short statement timeout
 * @throws StartupError if the database account lacks the permission
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
      `DATABASE_URL: the account may not create the schema ${SCHEMA}: grant it CREATE on the database`,
    );
  } finally {
    await boss.stop({ graceful: false, close: false });
  }
}
