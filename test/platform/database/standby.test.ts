import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded.ts';
import { isUnavailable } from '../../../src/platform/database/index.ts';
import { createPool } from '../../../src/platform/database/pool.ts';
import { CHECK_INTERVAL, FORMAT } from '../../../src/platform/database/session.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { temporaryFolder } from '../../support/processes.ts';

const MOST_CONNECTIONS = 10;
/** Abandoned sessions may be as many again, in addition to those that terminate them. */
const MOST_SESSIONS = 2 * MOST_CONNECTIONS + 2;
const ATTEMPTS_MS = 9_000;

const logger = createLogger('silent');
const dataDir = await temporaryFolder(afterAll);
const server = await startEmbeddedPostgres({
  dataDir,
  logger,
  settings: { fsync: 'off', max_connections: '60' },
});
afterAll(() => server.stop());
const { host, user } = server.connection;

async function sql<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  const client = new pg.Client({ host, user, database: 'latchkey' });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

async function sessions(): Promise<number> {
  const [row] = await sql<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where usename = 'service'`,
  );
  return row!.count;
}

// Only on some platforms can a backend check its client. On the others, abandoned sessions are counted and terminated.
test.each([['1s'], ['0']])(
  'commits that wait for a lost standby leave a bounded number of sessions behind (checked every %s)',

  async (interval) => {
    await sql(`drop table if exists notes; drop role if exists service; create role service login;
      create table notes (id int); grant all on notes to service`);
    const open = (maxConnections: number) =>
      createPool({
        connection: { host, user: 'service', database: 'latchkey' },
        maxConnections,
        statementTimeoutMs: 2_000,
        connectTimeoutMs: 2_000,
        logger,
        settings: { ...FORMAT, [CHECK_INTERVAL]: interval },
        sharesBackends: false,
      });
    const [pool, lookup] = [open(MOST_CONNECTIONS), open(1)];
    try {
      await lookup.query('select 1');
      await sql(`alter system set synchronous_standby_names = 'ghost'`);
      await sql('select pg_reload_conf()');
      const until = performance.now() + ATTEMPTS_MS;
      let [most, longest, lookups] = [0, 0, 0];
      const writers = Array.from({ length: 30 }, async () => {
        while (performance.now() < until) {
          const began = performance.now();
          const failure: unknown = await pool.query(`insert into notes values (1); notify notes, 'x'`).then(
            () => undefined,
            (error: unknown) => error,
          );
          expect(isUnavailable(failure)).toBe(true);
          longest = Math.max(longest, performance.now() - began);
          await delay(10);
        }
      });
      const reader = (async () => {
        for (; performance.now() < until; lookups += 1) {
          await lookup.query('select count(*) from notes');
          await delay(20);
        }
      })();
      const watcher = (async () => {
        for (; performance.now() < until; await delay(100)) most = Math.max(most, await sessions());
      })();
      await Promise.all([...writers, reader, watcher]);
      console.log(`most sessions ${most}, longest write ${longest.toFixed(0)} ms, lookups ${lookups}`);
      expect(most).toBeLessThanOrEqual(MOST_SESSIONS);
      expect(lookups).toBeGreaterThan(10);
    } finally {
      await sql('alter system reset synchronous_standby_names');
      await sql('select pg_reload_conf()');
    }
    const written = () =>
      pool.query('insert into notes values (2)').then(
        () => true,
        () => false,
      );
    await expect.poll(written).toBe(true);
    await Promise.all([pool.end(), lookup.end()]);
    await expect.poll(sessions).toBe(0);
  },
);
