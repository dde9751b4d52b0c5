import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newHwid, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { limitPlan } from '../support/plans.ts';
import { newReseller, type TestReseller } from '../support/resellers.ts';

type Schemas = components['schemas'];

const { api, databaseUrl } = await startTestService();
const app = await newApp(api);
const ABSENT_APP = 'app_01kazm4q7ffx8v5t2w9y3b6n1c';

const ledger = async (reseller: TestReseller) =>
  (await api.call<Schemas['LedgerEntryList']>('GET', '/api/v2/dev/reseller/ledger', undefined, reseller)).body
    .data;
const licenses = async ({ app_id, token }: App) =>
  (
    await api.call<Schemas['LicenseList']>(
      'GET',
      `/api/v2/dev/apps/${app_id}/licenses?limit=100`,
      undefined,
      { token },
    )
  ).body.data;

/** Expects that nothing was bought: no balance spent, no entry, no key. */
async function expectNothingBought(reseller: TestReseller, own: App, balance: number): Promise<void> {
  expect(await reseller.balance()).toBe(balance);
  const kinds = (await ledger(reseller)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind !== 'credit' && kind !== 'debit')).toEqual([]);
  expect(await licenses(own)).toEqual([]);
}

test("QUOTA_EXCEEDED beyond what the developer's plan allows: nothing is bought", async () => {
  const developer = await newDeveloper(api);
  const own = await newApp(api, developer);
  const reseller = await newReseller(api, own, { balance: 100 });
  await limitPlan(databaseUrl, developer, { licenses: 2 });
  expectError(await reseller.buy({ amount: 3 }), 403, 'QUOTA_EXCEEDED');
  await expectNothingBought(reseller, own, 100);
  expect((await reseller.buy({ amount: 2 })).status).toBe(201);
  expectError(await reseller.buy(), 403, 'QUOTA_EXCEEDED');
  expect(await reseller.balance()).toBe(80);
});

test('creates keys, deducts their cost and returns the balance', async () => {
  const own = await newApp(api);
  const reseller = await newReseller(api, own, { balance: 100, price: 9.99, commission_margin: 12.5 });
  const { status, body } = await reseller.buy({ amount: 3, note: 'Order 17' });
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    licenses: Array.from({ length: 3 }, () => ({
      license_id: expect.stringMatching(/^lic_/) as string,
      license_key: expect.stringMatching(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/) as string,
      tier: 'Pro',
      duration_days: 30,
      lifetime: false,
    })),
    // 9.99 less 12.5 % is 8.74125, rounded to 8.75 each.
    cost: 26.25,
    balance: 73.75,
    currency: 'USD',
    entry_id: expect.stringMatching(/^led_/),
  });
  expect(await reseller.balance()).toBe(73.75);
  const about = {
    app_id: own.app_id,
    tier: 'Pro',
    duration_days: 30,
    reference: body.licenses[0]!.license_id,
    note: 'Order 17',
  };
  expect(await ledger(reseller)).toMatchObject([
    {
      ...about,
      entry_id: body.entry_id,
      kind: 'generation',
      amount: -29.97,
      balance: 73.75,
      licenses: 3,
    },
    { ...about, kind: 'commission', amount: 3.72, balance: 103.72, licenses: 0 },
    { kind: 'credit', amount: 100 },
  ]);
  expect((await licenses(own)).map(({ license_key }) => license_key).sort()).toEqual(
    body.licenses.map(({ license_key }) => license_key).sort(),
  );
});

test('the keys work', async () => {
  const reseller = await newReseller(api, app, { balance: 10 });
  const [key] = await reseller.keys(1);
  const user = {
    username: 'ada',
    password: 'a user password',
    hwid: newHwid(),
    license_key: key!.license_key,
  };
  expect((await api.register(app.with(user))).status).toBe(201);
  expectError(
    await api.activate(app.with({ username: 'ada', license_key: key!.license_key })),
    400,
    'LICENSE_ALREADY_USED',
  );
});

test('of each tier and duration at its own price; null and lifetime are a lifetime', async () => {
  const reseller = await newReseller(api, app, { balance: 100, price: null });
  const { app_id } = app;
  await reseller.price(
    { app_id, tier: 'Pro', duration_days: 30, price: 3 },
    { app_id, tier: 'Pro', duration_days: null, price: 20 },
    { app_id, tier: 'VIP', duration_days: 30, price: 5 },
  );
  expect((await reseller.buy()).body.cost).toBe(3);
  const lifetime = await reseller.buy({ duration_days: null });
  expect(lifetime.body).toMatchObject({ cost: 20, licenses: [{ duration_days: null, lifetime: true }] });
  const named = await reseller.buy({ duration_days: undefined, lifetime: true });
  expect(named.body).toMatchObject({ cost: 20, licenses: [{ duration_days: null, lifetime: true }] });
  expect((await reseller.buy({ tier: 'VIP' })).body).toMatchObject({ cost: 5, balance: 52 });
});

test('1000 keys in one call, and not one more', async () => {
  const reseller = await newReseller(api, app, { balance: 10, price: 0.01 });
  const { status, body } = await reseller.buy({ amount: 1000 });
  expect(status).toBe(201);
  expect(new Set(body.licenses.map(({ license_key }) => license_key)).size).toBe(1000);
  expect(body).toMatchObject({ cost: 10, balance: 0 });
  expectFaults(await reseller.buy({ amount: 1001 }), '/amount');
});

test('free keys need no balance', async () => {
  const reseller = await newReseller(api, app, { price: 9.99, commission_margin: 100 });
  expect((await reseller.buy({ amount: 2 })).body).toMatchObject({ cost: 0, balance: 0 });
  expect(await ledger(reseller)).toMatchObject([
    { kind: 'generation', amount: -19.98, balance: 0, licenses: 2 },
    { kind: 'commission', amount: 19.98, balance: 19.98, licenses: 0 },
  ]);
});

test('without a commission, the purchase is one entry', async () => {
  const reseller = await newReseller(api, app, { balance: 10, price: 9.99 });
  await reseller.keys(1);
  expect(await ledger(reseller)).toMatchObject([{ kind: 'generation', amount: -9.99 }, { kind: 'credit' }]);
});

test('with a price of 0, the purchase is one entry of 0', async () => {
  const reseller = await newReseller(api, app, { price: 0, commission_margin: 50 });
  await reseller.keys(2);
  expect(await ledger(reseller)).toMatchObject([{ kind: 'generation', amount: 0, licenses: 2 }]);
});

test.each([
  ['the commission', 9_999_999_999_999.99, 50, 1, 0.01, 9_999_999_999_999.98],
  ['a price that no number holds', 5, 100, 1000, 9_999_999_999_999.99, 5],
])(
  'a balance that cannot hold %s for a moment pays the net in one entry, and gets it back so',
  async (_what, balance, commission_margin, amount, price, left) => {
    const reseller = await newReseller(api, app, { balance, commission_margin, price });
    const { status, body } = await reseller.buy({ amount });
    expect(status).toBe(201);
    expect(body.balance).toBe(left);
    const paid = commission_margin === 100 ? 0 : 0.01;
    expect(body.cost).toBe(paid);
    expect((await ledger(reseller)).map(({ kind, amount }) => [kind, amount])).toEqual([
      ['generation', 0 - paid],
      ['credit', balance],
    ]);
    const { license_id } = body.licenses[0]!;
    await api.post(`/api/v2/dev/reseller/licenses/${license_id}/refund`, undefined, reseller);
    expect((await ledger(reseller))[0]).toMatchObject({ kind: 'refund', amount: paid, balance });
  },
);

test.each([
  ['JPY', 100, 33.33, 67],
  ['KWD', 1.001, 33.33, 0.668],
  ['USD', 0.01, 99.99, 0.01],
])('of %s, a price of %d at %d percent costs %d', async (currency, price, commission_margin, cost) => {
  const reseller = await newReseller(api, app, { currency, price, commission_margin, balance: 100 });
  expect((await reseller.buy()).body).toMatchObject({ cost, currency });
});

describe('INSUFFICIENT_BALANCE', () => {
  test('has no effect, down to the last cent', async () => {
    const own = await newApp(api);
    const reseller = await newReseller(api, own, { balance: 29.99, price: 10 });
    const response = await reseller.buy({ amount: 3 });
    expectError(response, 402, 'INSUFFICIENT_BALANCE');
    expect(response.body.detail).toBe('This costs 30.00 USD, and the balance is 29.99 USD.');
    await expectNothingBought(reseller, own, 29.99);
    await reseller.credit(0.01);
    expect((await reseller.buy({ amount: 3 })).body).toMatchObject({ cost: 30, balance: 0 });
    expectError(await reseller.buy(), 402, 'INSUFFICIENT_BALANCE');
  });

  test('also for a cost that exceeds the range of numbers', async () => {
    const reseller = await newReseller(api, app, { balance: 1, price: 9_999_999_999_999.99 });
    const response = await reseller.buy({ amount: 1000 });
    expectError(response, 402, 'INSUFFICIENT_BALANCE');
    expect(response.body.detail).toContain('9999999999999990.00 USD');
  });

  test('is not a payment challenge', async () => {
    const reseller = await newReseller(api, app);
    expect((await reseller.buy()).headers.get('www-authenticate')).toBeNull();
  });
});

describe('PRICE_NOT_FOUND', () => {
  test('for everything without a price, regardless of whether it exists', async () => {
    const developer = await newDeveloper(api);
    const [own, unpriced, deleted] = [
      await newApp(api, developer),
      await newApp(api, developer),
      await newApp(api, developer),
    ];
    const reseller = await newReseller(api, own, { balance: 100 });
    const colleague = await newReseller(api, own, { price: null });
    await colleague.price({ app_id: unpriced.app_id, tier: 'Pro', duration_days: 30, price: 1 });
    const priced = { app_id: own.app_id, tier: 'Pro', duration_days: 30, price: 10 };
    await reseller.price(priced, { ...priced, app_id: deleted.app_id }, { ...priced, tier: 'VIP' });
    await api.call('DELETE', `/api/v2/dev/apps/${deleted.app_id}`, undefined, developer);
    await own.patch({ tiers: ['Standard', 'Pro'] });
    const foreign = await newApp(api);
    const responses = await Promise.all(
      [
        { app_id: ABSENT_APP },
        { app_id: unpriced.app_id },
        { app_id: deleted.app_id },
        { app_id: foreign.app_id },
        { app_id: foreign.app_id, tier: 'Nothing' },
        { tier: 'Standard' },
        { tier: 'VIP' },
        { tier: 'pro' },
        { tier: 'Nothing' },
        { duration_days: 31 },
        { duration_days: null },
        { app_id: ABSENT_APP, amount: 1000 },
      ].map((fields) => reseller.buy(fields)),
    );
    for (const response of responses) {
      expectError(response, 404, 'PRICE_NOT_FOUND');
      expect(comparable(response)).toEqual(comparable(responses[0]!));
    }
    await expectNothingBought(reseller, own, 100);
  });

  test('once the price is deleted', async () => {
    const reseller = await newReseller(api, app, { balance: 100 });
    await reseller.price();
    expectError(await reseller.buy(), 404, 'PRICE_NOT_FOUND');
  });
});

test('price, cost, margin, balance and owner in the request change nothing', async () => {
  const own = await newApp(api);
  const reseller = await newReseller(api, own, { balance: 100, price: 10, commission_margin: 5 });
  const victim = await newReseller(api, own, { balance: 100 });
  const injected = {
    price: 0,
    price_minor: 0,
    cost: 0,
    balance: 9999,
    commission_margin: 100,
    reseller_id: victim.reseller_id,
    resellerId: victim.reseller_id,
    developer_id: 'dev_01kazm2c5gf0b9s3w8h1x6k4td',
    redeem_by: '2020-01-01T00:00:00Z',
    status: 'redeemed',
  };
  const { status, body } = await reseller.buy(injected);
  expect(status).toBe(201);
  expect(body).toMatchObject({ cost: 9.5, balance: 90.5 });
  expect(await victim.balance()).toBe(100);
  expect(await licenses(own)).toMatchObject([{ status: 'unused', redeem_by: null }]);
});

describe('VALIDATION_FAILED', async () => {
  const own = await newApp(api);
  const reseller = await newReseller(api, own, { balance: 100 });

  test.each<[string, unknown[]]>([
    ['app_id', ['', 'a'.repeat(65), null, 1, undefined]],
    ['tier', ['', 't'.repeat(65), 'a\u0000', null, undefined]],
    ['duration_days', [0, -1, 36_501, 1.5, '30', undefined, 2 ** 31, 2 ** 53]],
    ['amount', [0, -1, 1001, 1.5, '5', null, true, undefined, 2 ** 31, 2 ** 53, 1e300]],
    ['note', ['n'.repeat(501), 'a\u0000b', 1, {}]],
  ])('for %s', async (member, values) => {
    for (const value of values) expectFaults(await reseller.buy({ [member]: value }), `/${member}`);
    await expectNothingBought(reseller, own, 100);
  });

  test.each(['1e400', '-1', '-0', '0.5', '1e-400'])('for an amount of %s', async (number) => {
    const wish = { app_id: own.app_id, tier: 'Pro', duration_days: 30 };
    const text = JSON.stringify(wish).replace('}', `,"amount":${number}}`);
    const response = await api.post('/api/v2/dev/reseller/licenses', text, { token: reseller.token });
    expectFaults(response, '/amount');
    await expectNothingBought(reseller, own, 100);
  });
});

test('an Idempotency-Key buys once, and is each reseller’s own', async () => {
  const [reseller, other] = [
    await newReseller(api, app, { balance: 100 }),
    await newReseller(api, app, { balance: 100 }),
  ];
  const key = { 'idempotency-key': 'order-17' };
  const first = await reseller.buy({ amount: 2 }, key);
  const again = await reseller.buy({ amount: 2 }, key);
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await reseller.balance()).toBe(80);
  expectError(await reseller.buy({ amount: 3 }, key), 422, 'IDEMPOTENCY_KEY_REUSED');
  expect(await reseller.balance()).toBe(80);
  const others = await other.buy({ amount: 2 }, key);
  expect(others.headers.get('idempotency-replayed')).toBeNull();
  expect(others.body.licenses[0]!.license_key).not.toBe(first.body.licenses[0]!.license_key);
});

test('a refused purchase can be repeated with its Idempotency-Key once the balance suffices', async () => {
  const own = await newApp(api);
  const reseller = await newReseller(api, own, { balance: 5, price: 10 });
  const key = { 'idempotency-key': 'order-18' };
  expectError(await reseller.buy({}, key), 402, 'INSUFFICIENT_BALANCE');
  await expectNothingBought(reseller, own, 5);
  await reseller.credit(5);
  expect((await reseller.buy({}, key)).status).toBe(201);
  expect(await reseller.balance()).toBe(0);
});

test('concurrent purchases succeed whole or fail with TOO_MANY_REQUESTS and Retry-After', async () => {
  const reseller = await newReseller(api, app, { balance: 1000, price: 1 });
  const responses = await Promise.all(Array.from({ length: 12 }, () => reseller.buy({ amount: 5 })));
  const bought = responses.filter(({ status }) => status === 201);
  for (const response of responses.filter(({ status }) => status !== 201)) {
    expectError(response, 429, 'TOO_MANY_REQUESTS');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
  expect(bought.length).toBeGreaterThan(0);
  expect(await reseller.balance()).toBe(1000 - 5 * bought.length);
});

test('is in the audit log with the reseller as the actor, and an event for the developer', async () => {
  const own = await newApp(api);
  const reseller = await newReseller(api, own, { balance: 100, price: 10 });
  const { body } = await reseller.buy({ amount: 2 });
  const log = await api.call<Schemas['AuditEntryList']>(
    'GET',
    `/api/v2/dev/audit-log?actor_id=${reseller.reseller_id}`,
    undefined,
    own,
  );
  expect(log.body.data).toMatchObject([
    {
      action: 'reseller.charged',
      target: reseller.reseller_id,
      app_id: own.app_id,
      actor: { kind: 'reseller', id: reseller.reseller_id },
      data: { entry_id: body.entry_id, amount: -20, balance: 80, currency: 'USD', licenses: 2 },
    },
    { action: 'license.created', app_id: own.app_id },
  ]);
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ data: object }>(
    "select data from events where app_id = $1 and type = 'license.created'",
    [own.app_id],
  );
  expect(rows).toMatchObject([{ data: { amount: 2, tier: 'Pro', reseller_id: reseller.reseller_id } }]);
  const texts = JSON.stringify([rows, log.body]);
  for (const { license_key } of body.licenses) expect(texts).not.toContain(license_key);
});

test('keys of a disabled application can still be bought, those of a deleted one cannot', async () => {
  const own = await newApp(api);
  const reseller = await newReseller(api, own, { balance: 100 });
  await own.patch({ status: 'disabled' });
  expect((await reseller.buy()).status).toBe(201);
  await api.call('DELETE', `/api/v2/dev/apps/${own.app_id}`, undefined, own);
  expectError(await reseller.buy(), 404, 'PRICE_NOT_FOUND');
  expect(await reseller.balance()).toBe(90);
});

describe('a change while a generation is queued applies to it', () => {
  /** A generation that has read the old state and waits for the application. */
  async function waiting(fields: Parameters<typeof newReseller>[2], amount = 2) {
    const own = await newApp(api);
    const reseller = await newReseller(api, own, fields);
    const client = await connectTo(databaseUrl);
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [own.app_id]);
    const bought = reseller.buy({ amount });
    const locks = `select 1 from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    await expect.poll(async () => (await client.query(locks)).rowCount).toBe(1);
    return {
      own,
      reseller,
      async release() {
        await client.query('rollback');
        return bought;
      },
    };
  }

  test('a suspension', async () => {
    const { own, reseller, release } = await waiting({ balance: 100 });
    await reseller.patch({ suspended: true });
    expectError(await release(), 403, 'RESELLER_SUSPENDED');
    await expectNothingBought(reseller, own, 100);
  });

  test('a debit', async () => {
    const { own, reseller, release } = await waiting({ balance: 20 });
    await api.post(`${reseller.path}/debits`, { amount: 0.01 }, own);
    expectError(await release(), 402, 'INSUFFICIENT_BALANCE');
    await expectNothingBought(reseller, own, 19.99);
  });

  test('another price, and another commission', async () => {
    const { own, reseller, release } = await waiting({ balance: 100, price: 10 });
    await reseller.price({ app_id: own.app_id, tier: 'Pro', duration_days: 30, price: 7 });
    await reseller.patch({ commission_margin: 50 });
    expect((await release()).body).toMatchObject({ cost: 7, balance: 93 });
  });

  test('the end of the price', async () => {
    const { own, reseller, release } = await waiting({ balance: 100 });
    await reseller.price();
    expectError(await release(), 404, 'PRICE_NOT_FOUND');
    await expectNothingBought(reseller, own, 100);
  });

  test('the end of the reseller', async () => {
    const { own, reseller, release } = await waiting({ price: 0 });
    await api.call('DELETE', reseller.path, undefined, own);
    expectError(await release(), 401, 'UNAUTHORIZED');
    expect(await licenses(own)).toEqual([]);
  });
});
