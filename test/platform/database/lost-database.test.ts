import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isUnavailable, openDatabase, type Database } from '../../../src/platform/database/index.ts';
import { eventually, remove, stopServer, temporaryFolder } from './support/processes.ts';

const logger = pino({ enabled: false });
const folder = temporaryFolder();
const dataDir = join(folder, 'data');
let database: Database;
let resume = (): void => {};

/** The limit is 2 to 3 s, but other tests share the machine, and a real hang would never end. */
const FAILS_WITHIN_MS = 15_000;

function hang(): void {
  resume = stopServer(dataDir);
}

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  const failure = await work().then(
    () => 'no failure',
    (error: unknown) => error,
  );
  expect(isUnavailable(failure), String(failure)).toBe(true);
  return failure;
}

async function failsAsUnavailable(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await failureOf(work);
  return performance.now() - began;
}

/** Both interfaces have their own connections, and detect a lost database separately. */
const respondsAgain = () =>
  eventually(async () => {
    await database.ping();
    await database.knex.raw('SELECT 1');
  }, 15_000);

beforeAll(async () => {
  database = await openDatabase({ dataDir, logger, maxConnections: 4, settings: { fsync: 'off' } });
});
afterEach(() => resume());
afterAll(async () => {
  await database.close();
  remove(folder);
});

describe('a database that hangs', () => {
  it('fails on both interfaces in time, then at once, and responds when it is back', async () => {
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
    expect(Math.max(...times)).toBeLessThan(FAILS_WITHIN_MS);
    // The next call waits for a second probe. Later calls do not wait, or each would take seconds.
    expect(await failsAsUnavailable(() => database.ping())).toBeLessThan(FAILS_WITHIN_MS);
    const later: number[] = [];
    for (let n = 0; n < 5; n += 1) later.push(await failsAsUnavailable(() => database.ping()));
    expect(Math.min(...later)).toBeLessThan(500);
    await transaction.rollback().catch(() => {});

    resume();
    await respondsAgain();
    const { rows } = await database.pool.query('SELECT $1::int AS response', [42]);
    expect(rows).toEqual([{ response: 42 }]);
  });

  it('fails in time when only new connections hang', async () => {
    hang();
    const times = await Promise.all(
      Array.from({ length: 8 }, () => failsAsUnavailable(() => database.knex.raw('SELECT 1'))),
    );
    expect(Math.max(...times)).toBeLessThan(FAILS_WITHIN_MS);
    resume();
    await respondsAgain();
  });
});

describe('a database that drops connections', () => {
  it('fails what was running and continues', async () => {
    const END =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity ' +
      "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    const SLEEPING =
      "SELECT 1 FROM pg_stat_activity WHERE state = 'active' " +
      "AND query LIKE 'SELECT pg_sleep(10)%' AND pid <> pg_backend_pid()";
    const transaction = await database.knex.transaction();
    await transaction.raw('SELECT 1');
    await database.withStatementTimeout(0, ({ pool }) => pool.query(END));
    await failsAsUnavailable(() => transaction.raw('SELECT 1'));
    await transaction.rollback().catch(() => {});
    await respondsAgain();

    const [failure] = await database.withStatementTimeout(0, async ({ pool }) => {
      await pool.query('SELECT 1');
      return Promise.all([
        failureOf(() => database.knex.raw('SELECT pg_sleep(10)')),
        eventually(async () => expect((await pool.query(SLEEPING)).rowCount).toBe(1), 5_000).then(() =>
          pool.query(END),
        ),
      ]);
    });
    // Ended, not timed out.
    expect(failure).toMatchObject({ code: '57P01' });
    // The pool may not have read yet that its idle connections were ended too.
    await respondsAgain();
  });

  it('cancels a slow statement without calling the database lost', async () => {
    const slow = failsAsUnavailable(() => database.knex.raw('SELECT pg_sleep(60)'));
    await new Promise((resolve) => setTimeout(resolve, 1_950));
    await database.ping();
    expect(await slow).toBeLessThan(FAILS_WITHIN_MS);
    await database.ping();
  });

  it('lets a patient caller take longer', async () => {
    await database.withStatementTimeout(0, ({ knex }) => knex.raw('SELECT pg_sleep(2.3)'));
  });

  it('never passes an open transaction to the next caller', async () => {
    const client = await database.pool.connect();
    await client.query('BEGIN');
    client.release();
    const { rows } = await database.pool.query('SELECT now() = statement_timestamp() AS alone');
    expect(rows).toEqual([{ alone: true }]);
    expect(database.pool.totalCount).toBeLessThanOrEqual(4);
  });
});
