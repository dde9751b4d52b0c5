import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { licensesOf } from '../operations/support/licenses.ts';
import { newReseller } from '../operations/support/resellers.ts';
import { temporaryFolder } from '../support/processes.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { newApp, newUser, type App, type User } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { shuffled } from './load.ts';

const first = await startTestService();
const { api, databaseUrl } = first;
const DATA_DIR = await temporaryFolder(atFileEnd);
const second = await startTestService({ DATABASE_URL: databaseUrl, DATA_DIR });
const { knex } = first.database;
const TIERS = ['Standard', 'Pro', 'VIP'];
let app: App;
let users: User[];

beforeAll(async () => {
  app = await newApp(api);
  users = [];
  for (let n = 0; n < 4; n += 1) users.push(await newUser(api, app));
});

/** The counts, and the same counted from the licenses, at one moment. */
function compare(): Promise<{ counted: object; actual: object }> {
  return knex.transaction(
    async (trx) => {
      const counts = (await first.services.licenses.countsOf(trx, [app.app_id])).get(app.app_id)!;
      const rows = await trx('licenses')
        .where({ app_id: app.app_id })
        .groupBy('tier', 'status')
        .select<{ tier: string; status: string; count: number }[]>(
          'tier',
          'status',
          trx.raw('count(*)::int'),
        );
      const counted = counts.byTier.flatMap(({ tier, total: _total, ...statuses }) =>
        Object.entries(statuses).map(([status, count]) => ({ tier, status, count })),
      );
      const key = ({ tier, status }: { tier: string; status: string }) => `${tier} ${status}`;
      return {
        counted: Object.fromEntries(
          counted.filter(({ count }) => count !== 0).map((row) => [key(row), row.count]),
        ),
        actual: Object.fromEntries(rows.map((row) => [key(row), row.count])),
      };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/** Runs work until `ended` is aborted, with pauses for other work. */
async function repeat(ended: AbortSignal, work: () => Promise<number>): Promise<number> {
  let sum = 0;
  while (!ended.aborted) {
    sum += await work();
    await delay(5);
  }
  return sum;
}

/** Runs work, some of it at once. */
async function run(work: (() => Promise<unknown>)[], atOnce: number): Promise<void> {
  const queue = shuffled(work);
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = queue.pop(); next; next = queue.pop()) await next();
    }),
  );
}

/** Creates, changes and deletes licenses in a transaction that is rolled back. */
async function undo(): Promise<void> {
  const undone = knex.transaction(async (trx) => {
    await trx.raw(
      `insert into licenses (license_id, key_digest, key_sealed, app_id, tier, created_at)
       select gen_random_uuid(), decode(md5(random()::text), 'hex'), key_sealed, app_id, 'Undone', created_at
       from licenses where app_id = ? limit 50`,
      [app.app_id],
    );
    await trx('licenses').where({ tier: 'Undone' }).update({ status: 'paused' });
    await trx('licenses').where({ tier: 'Undone' }).whereRaw("license_id < '8'").delete();
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
}

test('are exact at every moment of redemptions, bulk operations, imports, bans, deletions and rollbacks', async () => {
  const licenses = licensesOf(api, app);
  const reseller = await newReseller(api, app, { balance: 1_000, price: 1 });
  const made = [];
  for (const tier of TIERS) made.push(...(await licenses.create(30, { tier })));
  const sold = await reseller.keys(10);
  const redeem = ({ license_key }: { license_key: string }, turn: number) => {
    const { username } = users[turn % users.length]!;
    return [first, second][turn % 2]!.api.activate(app.with({ username, license_key }));
  };
  const refund = ({ license_id }: { license_id: string }) =>
    api.post(`/api/v2/dev/reseller/licenses/${license_id}/refund`, undefined, reseller);
  const importSome = (name: number) => {
    const rows = Array.from(
      { length: 50 },
      (_, n) => `IMPORTED-${name}-${n},VIP,30,${n % 2 ? 'banned' : ''}`,
    );
    return licenses.import(['license_key,tier,duration_days,status', ...rows].join('\n'));
  };
  const shuffledMade = shuffled(made);
  const single = [
    // Two attempts for each key: one of them is rolled back.
    ...shuffledMade.slice(0, 45).flatMap((key) => [0, 1].map((turn) => () => redeem(key, turn))),
    ...shuffledMade.slice(30, 60).map(
      ({ license_id }) =>
        () =>
          licenses.ban(license_id),
    ),
    ...shuffledMade.slice(30, 60).map(
      ({ license_id }) =>
        () =>
          licenses.unban(license_id),
    ),
    ...shuffledMade.slice(40, 75).map(
      ({ license_id }) =>
        () =>
          licenses.pause(license_id),
    ),
    ...shuffledMade.slice(40, 75).map(
      ({ license_id }) =>
        () =>
          licenses.resume(license_id),
    ),
    ...shuffledMade.slice(50).map(
      ({ license_id }) =>
        () =>
          licenses.delete(license_id),
    ),
    ...sold.map((key) => () => refund(key)),
    ...Array.from({ length: 3 }, () => () => reseller.buy({ amount: 10 })),
    ...Array.from({ length: 5 }, () => undo),
  ];
  const bulk = [
    ...TIERS.map((tier) => () => licenses.post({ amount: 300, tier, duration_days: 30 })),
    ...[1, 2, 3].map((name) => () => importSome(name)),
    ...[1, 2].map(() => () => licenses.deleteUnused('?status=unused&tier=VIP')),
  ];

  const over = new AbortController();
  const background = [
    repeat(over.signal, first.services.licenses.foldCounts),
    repeat(over.signal, second.services.licenses.foldCounts),
    repeat(over.signal, async () => {
      const { counted, actual } = await compare();
      expect(counted).toEqual(actual);
      return 1;
    }),
  ];
  await Promise.all([run(single, 6), run(bulk, 1)]).finally(() => over.abort());
  const [one, other, comparisons] = (await Promise.all(background)) as [number, number, number];

  const end = await compare();
  expect(end.counted).toEqual(end.actual);
  expect(Object.keys(end.actual).length).toBeGreaterThan(5);
  while ((await first.services.licenses.foldCounts()) > 0);
  expect(await compare()).toEqual({ counted: end.actual, actual: end.actual });
  const { rows } = await knex.raw<{ rows: { changes: number; zeros: number; deadlocks: number }[] }>(
    `select (select count(*)::int from license_count_changes) as changes,
       (select count(*)::int from license_counts where count = 0) as zeros,
       (select deadlocks::int from pg_stat_database where datname = current_database()) as deadlocks`,
  );
  expect(rows[0]).toEqual({ changes: 0, zeros: 0, deadlocks: 0 });
  console.log(`${comparisons} comparisons; ${one + other} changes were folded meanwhile`);
  expect(comparisons).toBeGreaterThan(10);
}, 300_000);
