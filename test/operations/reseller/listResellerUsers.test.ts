import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { newApp, newHwid, newUser, unique, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { newReseller } from '../support/resellers.ts';

const { api, clock } = await startTestService();
const list = (token: string, query = '') =>
  api.call<components['schemas']['ResellerUserList']>(
    'GET',
    `/api/v2/dev/reseller/users${query}`,
    undefined,
    {
      token,
    },
  );
const register = async (app: App, license_key: string) => {
  const fields = { username: unique('user'), password: 'a user password', hwid: newHwid(), license_key };
  const email = `${fields.username}@example.com`;
  const { body } = await api.register(app.with({ ...fields, email }));
  return { username: fields.username, user_id: String(body['user_id']) };
};

test('shows who redeemed a key: only name and subscription', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 100, price: 1 });
  const keys = await reseller.keys(3);
  const first = await register(app, keys[0]!.license_key);
  const second = await register(app, keys[1]!.license_key);
  await api.activate(app.with({ username: first.username, license_key: keys[2]!.license_key }));
  const common = { app_id: app.app_id, subscription_tier: 'Pro', subscription_status: 'active' };
  expect((await list(reseller.token)).body).toEqual({
    status: 'success',
    data: [
      { ...second, ...common, subscription_expires_at: inDays(clock, 30) },
      { ...first, ...common, subscription_expires_at: inDays(clock, 60) },
    ],
    next_cursor: null,
  });
});

test('uses the subscription clock: paused and expired', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 1, price: 1 });
  const [key] = await reseller.keys(1);
  await register(app, key!.license_key);
  const end = inDays(clock, 30);
  clock.advance(30 * DAY - 1);
  expect((await list(reseller.token)).body.data).toMatchObject([
    { subscription_status: 'active', subscription_expires_at: end },
  ]);
  clock.advance(1);
  expect((await list(reseller.token)).body.data).toMatchObject([
    { subscription_status: 'expired', subscription_tier: null, subscription_expires_at: null },
  ]);
});

test("shows no user of the developer's keys or of another reseller's", async () => {
  const app = await newApp(api);
  const [first, second] = [
    await newReseller(api, app, { balance: 10 }),
    await newReseller(api, app, { balance: 10 }),
  ];
  const [own] = await app.keys(1);
  await newUser(api, app);
  await register(app, own!);
  const customer = await register(app, (await second.keys(1))[0]!.license_key);
  expect((await list(first.token)).body.data).toEqual([]);
  expect((await list(second.token)).body.data).toMatchObject([customer]);
});

test('omits users of deleted applications', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 10 });
  await register(app, (await reseller.keys(1))[0]!.license_key);
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  expect((await list(reseller.token)).body.data).toEqual([]);
});

describe('pages', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 10, price: 1 });
  const made: string[] = [];
  for (const { license_key } of await reseller.keys(7)) {
    made.unshift((await register(app, license_key)).user_id);
  }

  test.each([1, 3, 6, 7, 100])('of %d: complete, newest first, without overlap', async (limit) => {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await list(reseller.token, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data.map(({ user_id }) => user_id));
      cursor = body.next_cursor;
    }
    expect(found).toEqual(made);
  });
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
  ['?username=x', 'query/username'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  const { token } = await newReseller(api, await newApp(api), { price: null });
  expectFaults(await list(token, query), pointer);
});

test("UNAUTHORIZED with the developer's token", async () => {
  expectError(await list((await newApp(api)).token), 401, 'UNAUTHORIZED');
});
