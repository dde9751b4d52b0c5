import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isUnavailable, openDatabase, type Database } from '../../../src/platform/database/index.ts';
import { eventually, remove, serverProcesses, temporaryFolder } from './support/processes.ts';

const logger = pino({ enabled: false });
const folder = temporaryFolder();
const dataDir = join(folder, 'data');
let database: Database;
let stopped: number[] = [];

function hang(): void {
  stopped = serverProcesses(dataDir);
  // The postmaster first, or it would start new ones.
  for (const pid of stopped) process.kill(pid, 'SIGSTOP');
}

function goOn(): void {
  for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT');
}

async function failsAsUnavailable(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  const failure = await work().then(
    () => 'no failure',
    (error: unknown) => error,
  );
  expect(isUnavailable(failure), String(failure)).toBe(true);
  return performance.now() - began;
}

beforeAll(async () => {
  database = await openDatabase({ dataDir, logger, maxConnections: 4, settings: { fsync: 'off' } });
});
afterEach(goOn);
afterAll(async () => {
  await database.close();
  remove(folder);
});

describe('a database that hangs', () => {
  it('fails every way of asking within 2.5 s, then at once, and answers within 2 s when it is back', async () => {
    await Promise.all([1, 2, 3, 4].map(() => database.pool.query('SELECT pg_sleep(0.05)')));
    const transaction = await database.knex.transaction();
    await transaction.raw('SELECT 1');
    hang();

    const times = await Promise.all([
      failsAsUnavailable(() => database.pool.query({ name: 'one', text: 'SELECT $1::int', values: [1] })),
      failsAsUnavailable(() => database.knex.select(1)),
      failsAsUnavailable(() =>
        database.knex.transaction(async (inner) => {
          await inner.raw('SELECT 1');
        }),
      ),
      failsAsUnavailable(() => transaction.raw('SELECT 2')),
      ...Array.from({ length: 20 }, () => failsAsUnavailable(() => database.ping())),
    ]);
    expect(Math.max(...times)).toBeLessThan(3_500);
    // The next one waits for a second opinion; after that nobody waits.
    expect(await failsAsUnavailable(() => database.ping())).toBeLessThan(3_000);
    expect(await failsAsUnavailable(() => database.ping())).toBeLessThan(1_000);
    await transaction.rollback().catch(() => {});

    goOn();
    expect(await eventually(() => database.ping(), 3_000)).toBeLessThan(2_000);
    const { rows } = await database.pool.query('SELECT $1::int AS answer', [42]);
    expect(rows).toEqual([{ answer: 42 }]);
  });

  it('fails within 2.5 s when only new connections hang', async () => {
    hang();
    const times = await Promise.all(
      Array.from({ length: 8 }, () => failsAsUnavailable(() => database.knex.raw('SELECT 1'))),
    );
    expect(Math.max(...times)).toBeLessThan(3_500);
    goOn();
    await eventually(() => database.ping(), 2_000);
  });
});

describe('a database that drops connections', () => {
  it('fails what was running and goes on', async () => {
    const killer = () =>
      database.withStatementTimeout(0, ({ pool }) =>
        pool.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        ),
      );
    const transaction = await database.knex.transaction();
    await transaction.raw('SELECT 1');
    await killer();
    await failsAsUnavailable(() => transaction.raw('SELECT 1'));
    await transaction.rollback().catch(() => {});
    expect(await eventually(() => database.ping(), 2_000)).toBeLessThan(1_000);

    const [slow] = await Promise.all([
      failsAsUnavailable(() => database.knex.raw('SELECT pg_sleep(1.5)')),
      new Promise((resolve) => setTimeout(resolve, 200)).then(killer),
    ]);
    expect(slow).toBeLessThan(1_800);
    // The pool may not have read yet that its idle connections were ended too.
    await eventually(() => database.ping(), 1_000);
  });

  it('cancels a slow statement without calling the database lost', async () => {
    const slow = failsAsUnavailable(() => database.knex.raw('SELECT pg_sleep(10)'));
    await new Promise((resolve) => setTimeout(resolve, 1_950));
    await database.ping();
    expect(await slow).toBeLessThan(3_500);
    await database.ping();
  });

  it('lets a patient caller take longer', async () => {
    await database.withStatementTimeout(0, ({ knex }) => knex.raw('SELECT pg_sleep(2.3)'));
  });

  it('never hands on a transaction that was left open', async () => {
    const client = await database.pool.connect();
    await client.query('BEGIN');
    client.release();
    const { rows } = await database.pool.query('SELECT now() = statement_timestamp() AS alone');
    expect(rows).toEqual([{ alone: true }]);
    expect(database.pool.totalCount).toBeLessThanOrEqual(4);
  });
});
