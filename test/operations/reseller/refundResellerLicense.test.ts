import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newUser, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { newReseller, type TestReseller } from '../support/resellers.ts';

type Schemas = components['schemas'];

const { api, databaseUrl } = await startTestService();
const ABSENT = 'lic_01kazm8e3rfxkb0a6t2d5v9j1m';
const refund = (
  { token }: Pick<TestReseller, 'token'>,
  licenseId: string,
  headers: Record<string, string> = {},
) =>
  api.post<Schemas['RefundResellerLicenseResult']>(
    `/api/v2/dev/reseller/licenses/${licenseId}/refund`,
    undefined,
    {
      token,
      headers,
    },
  );
const ids = async ({ app_id, token }: App) =>
  (
    await api.call<Schemas['LicenseList']>('GET', `/api/v2/dev/apps/${app_id}/licenses`, undefined, { token })
  ).body.data.map(({ license_id }) => license_id);

const ledger = async ({ token }: Pick<TestReseller, 'token'>) =>
  (
    await api.call<Schemas['LedgerEntryList']>('GET', '/api/v2/dev/reseller/ledger', undefined, { token })
  ).body.data.map(({ kind, amount, reference }) => ({ kind, amount, reference }));

test('refunds what was paid, regardless of the current price, and deletes the key', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 20, price: 9.99, commission_margin: 12.5 });
  const [first, second] = await reseller.keys(2);
  await reseller.price({ app_id: app.app_id, tier: 'Pro', duration_days: 30, price: 500 });
  await reseller.patch({ commission_margin: 0 });
  const { status, body } = await refund(reseller, first!.license_id);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    message: 'License refunded.',
    amount: 8.75,
    balance: 11.25,
    currency: 'USD',
    entry_id: expect.stringMatching(/^led_/),
  });
  expect(await reseller.balance()).toBe(11.25);
  const reference = first!.license_id;
  const written = await ledger(reseller);
  expect(written.slice(0, 2)).toEqual([
    { kind: 'commission', amount: -1.24, reference },
    { kind: 'refund', amount: 9.99, reference },
  ]);
  expect(await ids(app)).toEqual([second!.license_id]);
  const { username } = await newUser(api, app);
  const activate = (license_key: string) => api.activate(app.with({ username, license_key }));
  expectError(await activate(first!.license_key), 404, 'LICENSE_NOT_FOUND');
  expect((await activate(second!.license_key)).status).toBe(200);
  expectError(await refund(reseller, first!.license_id), 404, 'LICENSE_NOT_FOUND');
  expect(await reseller.balance()).toBe(11.25);
});

test('a purchase of an earlier version has one net entry, and its refund too', async () => {
  const reseller = await newReseller(api, await newApp(api), { balance: 20, commission_margin: 12.5 });
  const [key] = await reseller.keys(1);
  const database = await connectTo(databaseUrl);
  await database.query('update reseller_purchases set gross_minor = null where license_id = $1', [
    key!.license_id,
  ]);
  expect((await refund(reseller, key!.license_id)).body).toMatchObject({ amount: 8.75, balance: 20 });
  const [last, before] = await ledger(reseller);
  expect(last).toEqual({ kind: 'refund', amount: 8.75, reference: key!.license_id });
  expect(before).toMatchObject({ kind: 'generation' });
});

test('a balance that would exceed its limit in between gets the net amount in one entry', async () => {
  const reseller = await newReseller(api, await newApp(api), { balance: 20, commission_margin: 12.5 });
  const [key] = await reseller.keys(1);
  // 8.75 was paid, and the price is 10: the limit of the balance allows 9 more.
  await reseller.credit(9_999_999_999_999.99 - 9 - 11.25);
  const { body } = await refund(reseller, key!.license_id);
  expect(body).toMatchObject({ amount: 8.75, balance: 9_999_999_999_999.74 });
  expect((await ledger(reseller))[0]).toMatchObject({ kind: 'refund', amount: 8.75 });
});

test('of a free key changes no balance, but writes entries', async () => {
  const reseller = await newReseller(api, await newApp(api), { commission_margin: 100 });
  const [key] = await reseller.keys(1);
  expect((await refund(reseller, key!.license_id)).body).toMatchObject({ amount: 0, balance: 0 });
  expect((await ledger(reseller)).map(({ kind, amount }) => [kind, amount])).toEqual([
    ['commission', -10],
    ['refund', 10],
    ['generation', -10],
    ['commission', 10],
  ]);
});

describe('LICENSE_NOT_REFUNDABLE', () => {
  test('for a redeemed key', async () => {
    const app = await newApp(api);
    const reseller = await newReseller(api, app, { balance: 10 });
    const [key] = await reseller.keys(1);
    const { username } = await newUser(api, app);
    await api.activate(app.with({ username, license_key: key!.license_key }));
    const response = await refund(reseller, key!.license_id);
    expectError(response, 409, 'LICENSE_NOT_REFUNDABLE');
    expect((response.body as { detail?: string }).detail).toBe('The license is redeemed.');
    expect(await reseller.balance()).toBe(0);
    expect(await ids(app)).toEqual([key!.license_id]);
  });

  test.each(['banned', 'paused'])('for a key that is %s', async (status) => {
    const app = await newApp(api);
    const reseller = await newReseller(api, app, { balance: 10 });
    const [key] = await reseller.keys(1);
    const database = await connectTo(databaseUrl);
    await database.query('update licenses set status = $1 where app_id = $2', [status, app.app_id]);
    expectError(await refund(reseller, key!.license_id), 409, 'LICENSE_NOT_REFUNDABLE');
    expect(await reseller.balance()).toBe(0);
  });

  test('for a balance that would exceed its limit', async () => {
    const app = await newApp(api);
    const reseller = await newReseller(api, app, { balance: 10 });
    const [key] = await reseller.keys(1);
    await reseller.credit(9_999_999_999_999.99);
    expectError(await refund(reseller, key!.license_id), 409, 'LICENSE_NOT_REFUNDABLE');
    expect(await ids(app)).toEqual([key!.license_id]);
  });
});

test('LICENSE_NOT_FOUND is the same for absent keys, keys of others, and keys of a deleted application', async () => {
  const app = await newApp(api);
  const [reseller, other] = [
    await newReseller(api, app, { balance: 10 }),
    await newReseller(api, app, { balance: 10 }),
  ];
  await app.keys(1);
  const [own] = await ids(app);
  const [others] = await other.keys(1);
  const gone = await newApp(api);
  const leftover = await newReseller(api, gone, { balance: 10 });
  const [lost] = await leftover.keys(1);
  await api.call('DELETE', `/api/v2/dev/apps/${gone.app_id}`, undefined, gone);
  const absent = await refund(reseller, ABSENT);
  expectError(absent, 404, 'LICENSE_NOT_FOUND');
  for (const response of [
    await refund(reseller, own!),
    await refund(reseller, others!.license_id),
    await refund(leftover, lost!.license_id),
    await refund(reseller, 'x'),
  ]) {
    expect(comparable(response)).toEqual(comparable(absent));
  }
  expect([await reseller.balance(), await other.balance(), await leftover.balance()]).toEqual([10, 0, 0]);
  expect(await ids(app)).toHaveLength(2);
});

test('an Idempotency-Key returns the same response again', async () => {
  const reseller = await newReseller(api, await newApp(api), { balance: 10 });
  const [key] = await reseller.keys(1);
  const header = { 'idempotency-key': 'refund-1' };
  const first = await refund(reseller, key!.license_id, header);
  expect((await refund(reseller, key!.license_id, header)).body).toEqual(first.body);
  expect(await reseller.balance()).toBe(10);
});

test('of a concurrent redemption and refund, one succeeds', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 200 });
  const { username } = await newUser(api, app);
  const keys = await reseller.keys(12);
  const before = await reseller.balance();
  const outcomes = await Promise.all(
    keys.map(async ({ license_id, license_key }) => {
      const [refunded, redeemed] = await Promise.all([
        refund(reseller, license_id),
        api.activate(app.with({ username, license_key })),
      ]);
      return [refunded.status === 200, redeemed.status === 200] as const;
    }),
  );
  for (const [refunded, redeemed] of outcomes) expect(refunded).not.toBe(redeemed);
  const refunds = outcomes.filter(([refunded]) => refunded).length;
  expect(await reseller.balance()).toBe(before + refunds * 10);
  expect(await ids(app)).toHaveLength(12 - refunds);
});

test('is in the audit log and an event, without the key', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 10 });
  const [key] = await reseller.keys(1);
  await refund(reseller, key!.license_id);
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ data: object }>(
    "select data from events where app_id = $1 and type = 'license.deleted'",
    [app.app_id],
  );
  expect(rows).toEqual([
    {
      data: {
        license_id: key!.license_id,
        tier: 'Pro',
        duration_days: 30,
        reseller_id: reseller.reseller_id,
      },
    },
  ]);
  const log = await api.call<Schemas['AuditEntryList']>(
    'GET',
    `/api/v2/dev/audit-log?actor_id=${reseller.reseller_id}&limit=2`,
    undefined,
    app,
  );
  expect(log.body.data).toMatchObject([
    { action: 'reseller.refunded', data: { amount: 10, balance: 10 } },
    { action: 'license.deleted', target: key!.license_id },
  ]);
});
