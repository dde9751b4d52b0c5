import type { Knex } from 'knex';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/platform/database/index.ts';
import { createJobs, installJobs, type Worker } from '../../src/platform/jobs/index.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';

const databaseUrl = await createTestDatabase();
const logger = createLogger('silent');
const database = await openDatabase({ databaseUrl, dataDir: 'unused', logger });
afterAll(() => database.close());
const { knex, listen } = database;

async function work(worker: Worker, concurrency = 64) {
  const jobs = createJobs({ knex, listen, logger });
  const started = await jobs.start('webhooks', concurrency, worker);
  onTestFinished(() => started.stop());
  const send = (keys: readonly string[], slow = false) =>
    jobs.send(
      knex,
      'webhooks',
      keys.map((key) => ({ key, slow })),
    );
  return { jobs, send, stop: () => started.stop() };
}

/** Work that ends when the test ends it. */
function gate() {
  const begun: string[] = [];
  const open = new Map<string, () => void>();
  return {
    begun,
    worker: (async (key) => {
      begun.push(key);
      await new Promise<void>((resolve) => open.set(key, resolve));
    }) satisfies Worker,
    end: (key: string) => open.get(key)!(),
    endAll: () => open.forEach((resolve) => resolve()),
  };
}

test('the tables are created once by concurrent starts', async () => {
  const client = await connectTo(databaseUrl);
  await client.query('drop schema pgboss cascade');
  await database.withStatementTimeout(0, async (patient) => {
    await Promise.all(Array.from({ length: 3 }, () => installJobs(patient.knex, logger)));
    await installJobs(patient.knex, logger);
  });
  const { rows } = await client.query('select name, policy from pgboss.queue order by name');
  expect(rows).toEqual([
    { name: 'mails', policy: 'standard' },
    { name: 'security-events', policy: 'short' },
    { name: 'webhooks', policy: 'short' },
  ]);
});

describe('of one key', () => {
  test('one request is processed at a time across all processes, and one more waits', async () => {
    const { begun, worker, end, endAll } = gate();
    const first = await work(worker);
    const second = await work(worker);
    await first.send(['a']);
    await expect.poll(() => begun).toEqual(['a']);
    for (let count = 0; count < 5; count += 1) {
      await first.send(['a']);
      await second.send(['a']);
    }
    await second.send(['b']);
    await expect.poll(() => begun).toEqual(['a', 'b']);
    end('a');
    await expect.poll(() => begun).toEqual(['a', 'b', 'a']);
    endAll();
    const client = await connectTo(databaseUrl);
    const left = async () =>
      (await client.query(`select from pgboss.job where state in ('created', 'retry', 'active')`)).rowCount;
    await expect.poll(left).toBe(0);
    expect(begun).toEqual(['a', 'b', 'a']);
  });

  test('work that fails is retried', async () => {
    let tries = 0;
    const { send } = await work(async () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
    });
    await send(['fails']);
    await expect.poll(() => tries).toBe(3);
  });
});

test('slow requests use at most half of the concurrency, and start at once within it', async () => {
  const { begun, worker, endAll } = gate();
  const { send } = await work(worker, 6);
  await send(['s1', 's2', 's3', 's4', 's5'], true);
  await expect.poll(() => begun).toHaveLength(3);
  await send(['q1', 'q2', 'q3', 'q4']);
  await expect.poll(() => begun).toHaveLength(6);
  expect(begun.filter((key) => key.startsWith('s'))).toHaveLength(3);
  const before = begun.length;
  endAll();
  await expect.poll(() => begun.length).toBeGreaterThan(before);
  onTestFinished(endAll);
  await expect.poll(() => (endAll(), new Set(begun).size)).toBe(9);
});

test('queues of one process have their own workers, and the last one that stops ends what they share', async () => {
  const jobs = createJobs({ knex, listen, logger });
  const done: string[] = [];
  const start = (queue: 'webhooks' | 'security-events') =>
    jobs.start(queue, 4, async (key) => void done.push(`${queue} ${key}`));
  const send = (queue: 'webhooks' | 'security-events') =>
    jobs.send(knex, queue, [{ key: 'shared', slow: false }]);
  const [webhooks, others] = await Promise.all([start('webhooks'), start('security-events')]);
  await send('webhooks');
  await send('security-events');
  await expect.poll(() => done.toSorted()).toEqual(['security-events shared', 'webhooks shared']);
  await webhooks.stop();
  await send('security-events');
  await expect.poll(() => done).toHaveLength(3);
  expect(done[2]).toBe('security-events shared');
  await others.stop();
  const again = await start('webhooks');
  onTestFinished(() => again.stop());
  await send('webhooks');
  await expect.poll(() => done).toHaveLength(4);
});

test('a request of a transaction that is rolled back is not processed', async () => {
  const done: string[] = [];
  const { jobs } = await work(async (key) => void done.push(key));
  const enqueue = (key: string, fail: boolean) =>
    knex
      .transaction(async (trx) => {
        await jobs.send(trx, 'webhooks', [{ key, slow: false }]);
        if (fail) throw new Error('rolled back');
      })
      .catch(() => {});
  await enqueue('undone', true);
  await enqueue('done', false);
  await expect.poll(() => done).toEqual(['done']);
});

test('a worker that stops releases unfinished work at once', async () => {
  const aborted: string[] = [];
  const leaving = await work(
    (key, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(key);
          reject(signal.reason as Error);
        });
      }),
  );
  await leaving.send(['interrupted']);
  const client = await connectTo(databaseUrl);
  const states = async () =>
    (
      await client.query<{ state: string }>(
        `select state from pgboss.job where singleton_key = 'interrupted'`,
      )
    ).rows;
  await expect.poll(states).toEqual([{ state: 'active' }]);
  await leaving.stop();
  expect(aborted).toEqual(['interrupted']);
  const done: string[] = [];
  await work(async (key) => void done.push(key));
  await expect.poll(() => done).toEqual(['interrupted']);
});

test('two transactions that add the same keys in different order do not deadlock', async () => {
  const { jobs } = await work(async () => {});
  const enqueue = async (db: Knex, keys: readonly string[]): Promise<void> => {
    await jobs.send(
      db,
      'webhooks',
      keys.map((key) => ({ key, slow: false })),
    );
  };
  const client = await connectTo(databaseUrl);
  const waiting = async () => {
    const { rows } = await client.query<{ waiting: number }>(
      `select count(*)::int as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]!.waiting;
  };
  let other: Promise<void> | undefined;
  await knex.transaction(async (trx) => {
    await enqueue(trx, ['order a']);
    other = enqueue(knex, ['order b', 'order a']);
    await expect.poll(waiting).toBe(1);
    await enqueue(trx, ['order b']);
  });
  await other;
});
