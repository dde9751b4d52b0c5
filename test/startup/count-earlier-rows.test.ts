import { expect, test } from 'vitest';
import * as countLicenses from '../../src/migrations/20261126010000_count_licenses.ts';
import * as countEarlierLicenses from '../../src/migrations/20261126010010_count_earlier_licenses.ts';
import * as countSales from '../../src/migrations/20261126010030_count_reseller_sales.ts';
import * as countEarlierSales from '../../src/migrations/20261126010040_count_earlier_reseller_sales.ts';
import { licensesOf } from '../operations/support/licenses.ts';
import { newReseller } from '../operations/support/resellers.ts';
import { DAY } from '../support/clock.ts';
import { newApp, newDeveloper, newUser, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const { api, clock, database, services } = await startTestService();
const { knex } = database;

const countsOf = async ({ app_id }: App) => (await services.licenses.countsOf(knex, [app_id])).get(app_id);

test('counts the licenses from before it while others are written, and only once', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await countLicenses.down(knex);
  // Of an earlier version.
  const licenses = licensesOf(api, app);
  await licenses.create(5, { tier: 'Pro' });
  const [banned] = await licenses.create(3, { tier: 'VIP' });
  await licenses.ban(banned!.license_id);
  await licensesOf(api, other).create(2);

  await countLicenses.up(knex);
  // Counted by the triggers, before those from before are.
  const [redeemed] = await licenses.create(2, { tier: 'Pro' });
  const { username } = await newUser(api, app);
  await api.activate(app.with({ username, license_key: redeemed!.license_key }));
  await licenses.unban(banned!.license_id);
  await licenses.delete(banned!.license_id);
  while ((await services.licenses.foldCounts()) > 0);

  const pending = await knex.transaction();
  await pending('licenses').where({ app_id: app.app_id, status: 'redeemed' }).update({ status: 'paused' });
  await countEarlierLicenses.up(knex);
  const expected = { total: 9, unused: 8, redeemed: 1, paused: 0, banned: 0 };
  expect(await countsOf(app)).toMatchObject(expected);
  await pending.commit();
  const after = { ...expected, redeemed: 0, paused: 1 };
  expect(await countsOf(app)).toMatchObject({
    ...after,
    byTier: [
      { tier: 'Pro', total: 7 },
      { tier: 'VIP', total: 2 },
    ],
  });
  expect(await countsOf(other)).toMatchObject({ total: 2, unused: 2 });
  await countEarlierLicenses.up(knex);
  while ((await services.licenses.foldCounts()) > 0);
  expect(await countsOf(app)).toMatchObject(after);
});

test('counts the sales from before it, and only once', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const reseller = await newReseller(api, app, { balance: 500, price: 9.99, commission_margin: 12.5 });
  const sales = () => services.resellers.sales(developer.developerId, reseller.reseller_id, {});
  const refund = (licenseId: string) =>
    api.post(`/api/v2/dev/reseller/licenses/${licenseId}/refund`, undefined, reseller);
  await countSales.down(knex);
  const keys = await reseller.keys(10);
  await refund(keys[0]!.license_id);
  await countSales.up(knex);
  await refund(keys[1]!.license_id);
  clock.advance(DAY / 2);
  await reseller.keys(2);
  const expected = { keysSold: 12, charged: 105, keysRefunded: 2, refunded: 17.5 };
  for (let times = 0; times < 2; times += 1) {
    await countEarlierSales.up(knex);
    expect((await sales()).totals).toEqual(expected);
  }
  await reseller.keys(1);
  expect((await sales()).totals).toEqual({ ...expected, keysSold: 13, charged: 113.75 });
});
