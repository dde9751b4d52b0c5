import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { startTestService } from '../../support/service.ts';

const { api, databaseUrl } = await startTestService();

const FREE = {
  id: 'free',
  name: 'Free',
  price: 0,
  currency: 'USD',
  period: 'lifetime',
  max_apps: 25,
  max_users_per_app: 100_000,
  features: ['hwid_lock', 'unlimited_logins'],
  kind: 'subscription',
  max_licenses: null,
  licenses: null,
  balance: null,
};

test('lists the free plan that every developer begins with, without credentials', async () => {
  const { status, body } = await api.plans();
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', data: [FREE] });
});

test('lists the cheapest first, with prices in units of their currency', async () => {
  const database = await connectTo(databaseUrl);
  await database.query(`
    insert into plans (plan_id, name, max_apps, max_users_per_app, price_minor, currency, period, features) values
      ('pro-yearly', 'Pro “yearly”', 100, 1000000, 9900, 'USD', 'yearly', '{hwid_lock}'),
      ('pro', 'Pro', 100, 1000000, 999, 'EUR', 'monthly', '{}'),
      ('tokyo', 'Tokyo', 1, 1, 1500, 'JPY', 'monthly', '{}'),
      ('kuwait', 'Kuwait', 1, 1, 1501, 'KWD', 'monthly', '{}')`);
  const { body } = await api.plans();
  expect(body.data).toEqual([
    FREE,
    {
      id: 'pro',
      name: 'Pro',
      price: 9.99,
      currency: 'EUR',
      period: 'monthly',
      max_apps: 100,
      max_users_per_app: 1_000_000,
      features: [],
      kind: 'subscription',
      max_licenses: null,
      licenses: null,
      balance: null,
    },
    expect.objectContaining({ id: 'tokyo', price: 1500, currency: 'JPY' }),
    expect.objectContaining({ id: 'kuwait', price: 1.501, currency: 'KWD' }),
    expect.objectContaining({ id: 'pro-yearly', price: 99, period: 'yearly', features: ['hwid_lock'] }),
  ]);
  await database.query("delete from plans where plan_id <> 'free'");
});

test('has no parameters, and ignores a token', async () => {
  const refused = await api.call('GET', '/api/v1/client/plans?currency=EUR');
  expect(refused.body).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  const headers = { authorization: 'Bearer nonsense' };
  expect((await api.call('GET', '/api/v1/client/plans', undefined, { headers })).status).toBe(200);
});
