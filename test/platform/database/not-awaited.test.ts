import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createCluster } from '../../../src/foundation/cluster/cluster.ts';
import { createLimits } from '../../../src/foundation/limits/limits.ts';
import { migrate } from '../../../src/migrations/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded.ts';
import { isUnavailable, openDatabase } from '../../../src/platform/database/index.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { temporaryFolder } from '../../support/processes.ts';

const logger = createLogger('silent');
const dataDir = await temporaryFolder(afterAll);
const server = await startEmbeddedPostgres({ dataDir, logger, settings: { fsync: 'off' } });
afterAll(() => server.stop());
const { host, user } = server.connection;
const databaseUrl = `postgresql:///latchkey?${new URLSearchParams({ host, user })}`;
const database = await openDatabase({ databaseUrl, dataDir, logger, statementTimeoutMs: 1_000 });
afterAll(() => database.close());
const { knex, pool } = database;
const cluster = createCluster({ knex, pool, clock: systemClock, logger, nodeId: 'node_a' });
const limits = createLimits(knex, { requests: 5, seconds: 60 }, () => 0);

beforeAll(async () => {
  await migrate(knex);
  await pool.query(`alter system set synchronous_standby_names = 'ghost'`);
  await pool.query('select pg_reload_conf()');
  await vi.waitFor(async () => {
    const { rows } = await pool.query<{ value: string }>(
      `select current_setting('synchronous_standby_names') as value`,
    );
    expect(rows[0]!.value).toBe('ghost');
  });
});

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (isUnavailable(error) ? 'unavailable' : error),
  );

describe('while a synchronous standby is lost', () => {
  test('a node announces itself', async () => {
    expect(await outcome(cluster.nodes())).toBe('done');
  });

  test('requests and failures are counted, and windows that have ended are cleared', async () => {
    expect(await outcome(limits.count(['application', 'a'], '192.0.2.1'))).toBe('done');
    expect(await limits.count(['application', 'a'], '192.0.2.1')).toMatchObject({ remaining: 3 });
    expect(await outcome(limits.countFailure([['b', '192.0.2.1']]))).toBe('done');
    expect(await outcome(limits.take('mails', ['c'], { requests: 1, seconds: 60 }, 'mails'))).toBe('done');
    await expect(limits.take('mails', ['c'], { requests: 1, seconds: 60 }, 'mails')).rejects.toThrow();
    expect(await outcome(limits.clearExpired())).toBe('done');
  });
});
