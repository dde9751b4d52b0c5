import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newReseller, newResellerToken, type TestReseller } from '../operations/support/resellers.ts';
import { newApp, newUser, type App } from '../support/fixtures.ts';
import { patiently, shuffled, tally, type LightResponse } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses();
const { client, sql } = two;
const [{ api }] = two.services;

const BUY = '/api/v2/dev/reseller/licenses';
const wish = ({ app_id }: App, amount = 1) => ({ app_id, tier: 'Pro', duration_days: 30, amount });

interface Books {
  /** In cents. */
  readonly balance: number;
  readonly sum: number;
  readonly entries: number;
  /** The generated keys in entries, less refunds. */
  readonly booked: number;
  readonly keys: number;
  /** The cost of existing keys. */
  readonly paid: number;
  /** The amount paid for keys, less commissions and refunds. */
  readonly spent: number;
  /** Entries whose balance is not the sum of all amounts up to them. */
  readonly wrong: number;
}

/** Balance, ledger, keys and their payments side by side. */
async function books({ reseller_id }: TestReseller): Promise<Books> {
  const [row] = await sql<Books & Record<string, number>>(
    `select r.balance_minor::int as balance, l.*, k.*
     from resellers r,
       (select coalesce(sum(amount_minor), 0)::int as sum, count(*)::int as entries,
          coalesce(sum(case kind when 'generation' then licenses when 'refund' then -licenses end), 0)::int as booked,
          coalesce(-sum(amount_minor) filter (where kind in ('generation', 'refund', 'commission')), 0)::int as spent,
          coalesce(sum((balance_minor <> running)::int), 0)::int as wrong
        from (select *, sum(amount_minor) over (order by sequence) as running
              from reseller_ledger where reseller_id = $1) entries) l,
       (select count(*)::int as keys, coalesce(sum(cost_minor), 0)::int as paid
        from licenses left join reseller_purchases using (license_id) where reseller_id = $1) k
     where r.reseller_id = $1`,
    [reseller_id],
  );
  return row!;
}

function expectBalanced(found: Books): void {
  const { balance, booked, spent } = found;
  expect(found).toMatchObject({ sum: balance, keys: booked, paid: spent, wrong: 0 });
}

test('100 generations at once with money for 37: 37 succeed, and every book agrees', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, {
    price: 9.99,
    commission_margin: 12.5,
    balance: 37 * 8.75 + 8.74,
  });
  let lowest = Infinity;
  let over = false;
  const watching = (async () => {
    while (!over) {
      const found = await books(reseller);
      expectBalanced(found);
      lowest = Math.min(lowest, found.balance);
      await delay(2);
    }
  })();
  const responses = await Promise.all(
    Array.from({ length: 100 }, (_, turn) =>
      patiently(() => client(turn).post(BUY, wish(app), { token: reseller.token })),
    ),
  );
  over = true;
  await watching;
  expect(tally(responses)).toEqual({ 201: 37, '402 INSUFFICIENT_BALANCE': 63 });
  expect(lowest).toBeGreaterThanOrEqual(0);
  const found = await books(reseller);
  expectBalanced(found);
  expect(found).toMatchObject({ balance: 874, keys: 37, spent: 37 * 875, entries: 75 });
  const made = responses.flatMap(
    ({ body }) => (body['licenses'] as { license_key: string }[] | undefined) ?? [],
  );
  expect(new Set(made.map(({ license_key }) => license_key)).size).toBe(37);
  // Each reported a different balance: no two were charged from the same one.
  const left = responses.filter(({ status }) => status === 201).map(({ body }) => body['balance']);
  expect(new Set(left).size).toBe(37);
  expect(await reseller.balance()).toBe(8.74);
});

test('different generations, credits, debits and refunds at once: never below zero, and the ledger sums', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: 1, balance: 60 });
  const keys: string[] = [];
  let least = Infinity;
  let over = false;
  const watching = (async () => {
    while (!over) {
      const found = await books(reseller);
      expectBalanced(found);
      least = Math.min(least, found.balance);
      await delay(2);
    }
  })();
  const work: ((turn: number) => Promise<LightResponse>)[] = [
    ...Array.from({ length: 60 }, () => async (turn: number) => {
      const response = await patiently(() =>
        client(turn).post(BUY, wish(app, randomInt(1, 6)), { token: reseller.token }),
      );
      const made = (response.body['licenses'] ?? []) as { license_id: string }[];
      keys.push(...made.map(({ license_id }) => license_id));
      return response;
    }),
    ...Array.from(
      { length: 10 },
      () => (turn: number) =>
        patiently(() => client(turn).post(`${reseller.path}/credits`, { amount: 2.5 }, { token: app.token })),
    ),
    ...Array.from(
      { length: 10 },
      () => (turn: number) =>
        patiently(() => client(turn).post(`${reseller.path}/debits`, { amount: 7.5 }, { token: app.token })),
    ),
    ...Array.from({ length: 20 }, () => async (turn: number) => {
      await delay(randomInt(0, 200));
      const id = keys.pop() ?? 'lic_01kazm8e3rfxkb0a6t2d5v9j1m';
      return patiently(() => client(turn).post(`${BUY}/${id}/refund`, undefined, { token: reseller.token }));
    }),
  ];
  const responses = await Promise.all(shuffled(work).map((send, turn) => send(turn)));
  over = true;
  await watching;
  const expected = [
    '200',
    '201',
    '402 INSUFFICIENT_BALANCE',
    '404 LICENSE_NOT_FOUND',
    '409 INSUFFICIENT_BALANCE',
  ];
  expect(Object.keys(tally(responses)).filter((kind) => !expected.includes(kind))).toEqual([]);
  expect(least).toBeGreaterThanOrEqual(0);
  expectBalanced(await books(reseller));
});

test('100 equal requests with one key: one debit and one response; another body is refused', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: 10, balance: 1000 });
  const headers = { 'idempotency-key': randomUUID() };
  /** Repeats a request while the first one is in progress. */
  const buy = async (turn: number) => {
    for (;;) {
      const response = await patiently(() =>
        client(turn).post(BUY, wish(app, 3), { token: reseller.token, headers }),
      );
      if (response.status !== 409) return response;
      expect(response.code).toBe('IDEMPOTENCY_KEY_IN_USE');
      await delay(randomInt(10, 60));
    }
  };
  const responses = await Promise.all(Array.from({ length: 100 }, (_, turn) => buy(turn)));
  expect(tally(responses)).toEqual({ 201: 100 });
  for (const { body } of responses) expect(body).toEqual(responses[0]!.body);
  expect(
    responses.filter((response) => response.headers.get('idempotency-replayed') === 'true'),
  ).toHaveLength(99);
  const found = await books(reseller);
  expectBalanced(found);
  expect(found).toMatchObject({ balance: 97_000, keys: 3, entries: 2 });
  const other = await client(1).post(BUY, wish(app, 4), { token: reseller.token, headers });
  expect([other.status, other.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  expect(await books(reseller)).toEqual(found);
});

test('one key refunded 50 times at once is paid back once', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: 10, balance: 50 });
  const [key] = await reseller.keys(1);
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, turn) =>
      patiently(() =>
        client(turn).post(`${BUY}/${key!.license_id}/refund`, undefined, { token: reseller.token }),
      ),
    ),
  );
  expect(tally(responses)).toEqual({ 200: 1, '404 LICENSE_NOT_FOUND': 49 });
  const found = await books(reseller);
  expectBalanced(found);
  expect(found).toMatchObject({ balance: 5000, keys: 0 });
});

test('keys that are refunded and redeemed at once on two nodes: one of the two', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: 10, balance: 200 });
  const keys = await reseller.keys(20);
  const { username } = await newUser(api, app);
  const outcomes = await Promise.all(
    keys.map(async ({ license_id, license_key }, turn) => {
      const [refunded, redeemed] = await Promise.all([
        client(turn).post(`${BUY}/${license_id}/refund`, undefined, { token: reseller.token }),
        client(turn + 1).activate(app.with({ username, license_key })),
      ]);
      return [refunded.status, redeemed.status];
    }),
  );
  for (const [refunded, redeemed] of outcomes) {
    expect([
      [200, 404],
      [409, 200],
      [404, 200],
    ]).toContainEqual([refunded, redeemed]);
  }
  const refunds = outcomes.filter(([refunded]) => refunded === 200).length;
  expect(await books(reseller)).toMatchObject({
    balance: refunds * 1000,
    sum: refunds * 1000,
    keys: 20 - refunds,
  });
  const [{ redeemed }] = (await sql<{ redeemed: number }>(
    "select count(*)::int as redeemed from licenses where reseller_id = $1 and status = 'redeemed'",
    [reseller.reseller_id],
  )) as [{ redeemed: number }];
  expect(redeemed).toBe(20 - refunds);
});

test('after the response to a suspension, nothing is bought on any node', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: 1, balance: 1000 });
  let over = false;
  const buying = Promise.all(
    Array.from({ length: 4 }, async (_, turn) => {
      while (!over) {
        const { status } = await client(turn).post(BUY, wish(app), { token: reseller.token });
        expect([201, 403, 429]).toContain(status);
      }
    }),
  );
  await expect.poll(async () => (await books(reseller)).keys).toBeGreaterThan(3);
  await reseller.patch({ suspended: true });
  const { keys } = await books(reseller);
  await delay(150);
  over = true;
  await buying;
  const found = await books(reseller);
  expectBalanced(found);
  expect(found.keys).toBe(keys);
});

test('a change of prices comes before or after a generation: each key costs the old or the new price', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: 1, balance: 1000 });
  const price = (amount: number) =>
    reseller.price({ app_id: app.app_id, tier: 'Pro', duration_days: 30, price: amount });
  const buying = Promise.all(
    Array.from({ length: 30 }, (_, turn) =>
      patiently(() => client(turn).post(BUY, wish(app, 2), { token: reseller.token })),
    ),
  );
  for (let turn = 0; turn < 10; turn += 1) await price(turn % 2 === 0 ? 3 : 1);
  const responses = await buying;
  expect(responses.filter(({ status }) => status !== 201)).toEqual([]);
  for (const { body } of responses) expect([2, 6]).toContain(body['cost']);
  expectBalanced(await books(reseller));
});

test('a deletion and generations at once: keys bought before it are paid for, and no money remains', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: 10, balance: 100 });
  const tokens = [reseller.token, await newResellerToken(api, app, reseller.reseller_id)];
  let gone = false;
  const buying = Promise.all(
    tokens.map(async (token, turn) => {
      while (!gone) {
        const { status } = await client(turn).post(BUY, wish(app), { token });
        // Its prices may be deleted just before its token.
        expect([201, 401, 402, 404, 429]).toContain(status);
      }
    }),
  );
  const remove = () => client(0).call('DELETE', reseller.path, undefined, app.token);
  await expect
    .poll(async () => {
      const { status } = await remove();
      expect([200, 409]).toContain(status);
      return status;
    })
    .toBe(200);
  gone = true;
  await buying;
  const found = await books(reseller);
  expectBalanced(found);
  expect(found).toMatchObject({ balance: 0, keys: 10 });
});
