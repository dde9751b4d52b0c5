import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { licensesOf, redeemed, scoped } from '../support/licenses.ts';
import { newReseller } from '../support/resellers.ts';

const { api, databaseUrl } = await startTestService();

test('deletes and counts unused keys, and keeps all others', async () => {
  const [app, sibling] = [await newApp(api), await newApp(api)];
  const licenses = licensesOf(api, app);
  await licensesOf(api, sibling).create(3);
  await licenses.create(4);
  const [paused, banned] = await licenses.create(2);
  const used = await redeemed(api, app);
  await licenses.pause(paused!.license_id);
  await licenses.ban(banned!.license_id);
  const { status, body } = await licenses.deleteUnused();
  expect({ status, body }).toEqual({ status: 200, body: { status: 'success', deleted: 4 } });
  expect((await licenses.list()).body.data.map(({ license_id }) => license_id).sort()).toEqual(
    [paused!, banned!, used].map(({ license_id }) => license_id).sort(),
  );
  expect((await licenses.deleteUnused()).body.deleted).toBe(0);
  expect((await licensesOf(api, sibling).list()).body.data).toHaveLength(3);
});

test('of one tier', async () => {
  const licenses = licensesOf(api, await newApp(api));
  await licenses.create(3, { tier: 'Pro' });
  await licenses.create(2, { tier: 'VIP' });
  expect((await licenses.deleteUnused('?status=unused&tier=None')).body.deleted).toBe(0);
  expect((await licenses.deleteUnused('?status=unused&tier=Pro')).body.deleted).toBe(3);
  expect((await licenses.list()).body.data.map(({ tier }) => tier)).toEqual(['VIP', 'VIP']);
});

test('of a tier named only with spaces, which older versions allowed', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  await licenses.create(2, { tier: 'Pro' });
  const database = await connectTo(databaseUrl);
  const tiers = ['Standard', ' '];
  await database.query('update applications set tiers = $2 where app_id = $1', [app.app_id, tiers]);
  await database.query(`update licenses set tier = ' ' where app_id = $1`, [app.app_id]);
  const shown = await api.call('GET', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  expect(shown.body['tiers']).toEqual(tiers);
  expect((await licenses.list('?tier=%20')).body.data).toHaveLength(2);
  expect((await licenses.deleteUnused('?status=unused&tier=%20')).body.deleted).toBe(2);
});

test('keys that a reseller has paid for stay until they are deleted one by one', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const reseller = await newReseller(api, app, { balance: 20_000 });
  const [first] = await licenses.create(1);
  const [paid, another] = [...(await reseller.keys(1_000)), ...(await reseller.keys(500))];
  await licenses.create(1);
  expect((await licenses.deleteUnused('?status=unused&tier=Pro')).body.deleted).toBe(2);
  expect((await licenses.deleteUnused()).body.deleted).toBe(0);
  expectError(await licenses.get(first!.license_id), 404, 'LICENSE_NOT_FOUND');
  const database = await connectTo(databaseUrl);
  const { rowCount } = await database.query('select from licenses where reseller_id = $1', [
    reseller.reseller_id,
  ]);
  expect(rowCount).toBe(1_500);
  const refund = `/api/v2/dev/reseller/licenses/${paid!.license_id}/refund`;
  expect((await api.post(refund, {}, { token: reseller.token })).status).toBe(200);
  expect((await licenses.delete(another!.license_id)).status).toBe(200);
});

test('25,000 keys in batches, each with an event', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  for (const amount of [10_000, 10_000, 5_000]) await licenses.create(amount);
  expect((await licenses.deleteUnused()).body.deleted).toBe(25_000);
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ amount: number }>(
    `select (data->>'amount')::int as amount from events
     where app_id = $1 and type = 'license.deleted' order by sequence`,
    [app.app_id],
  );
  expect(rows.map(({ amount }) => amount)).toEqual([10_000, 10_000, 5_000]);
});

test('VALIDATION_FAILED unless the request names unused keys', async () => {
  const licenses = licensesOf(api, await newApp(api));
  await licenses.create(1);
  for (const query of ['', '?status=redeemed', '?status=', '?status=unused&status=unused', '?tier=Pro'])
    expectFaults(await licenses.deleteUnused(query), 'query/status');
  expect((await licenses.list()).body.data).toHaveLength(1);
});

test('one at a time per developer: the others get TOO_MANY_REQUESTS', async () => {
  const licenses = licensesOf(api, await newApp(api));
  await licenses.create(10_000);
  const responses = await Promise.all(Array.from({ length: 4 }, () => licenses.deleteUnused()));
  const refused = responses.filter(({ status }) => status !== 200);
  for (const response of refused) expectError(response, 429, 'TOO_MANY_REQUESTS');
  const deleted = responses.reduce((sum, { body }) => sum + (body.deleted ?? 0), 0);
  expect(deleted).toBe(10_000);
});

test("another developer's application counts as absent, and the token must have the scope write", async () => {
  const app = await newApp(api);
  await licensesOf(api, app).create(1);
  const { token } = await newDeveloper(api);
  const foreign = await licensesOf(api, { app_id: app.app_id, token }).deleteUnused();
  const absent = await licensesOf(api, { app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token }).deleteUnused();
  expectError(absent, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(foreign)).toEqual(comparable(absent));
  expectError(await licensesOf(api, { app_id: app.app_id }).deleteUnused(), 401, 'UNAUTHORIZED');
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.deleteUnused(), 403, 'INSUFFICIENT_SCOPE');
  expect((await licensesOf(api, app).list()).body.data).toHaveLength(1);
});
