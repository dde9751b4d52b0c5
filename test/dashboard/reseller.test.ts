import { expect, test } from 'vitest';
import { newReseller } from '../operations/support/resellers.ts';
import { newApp, newUser } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { openPage, startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openConsole, signInWithToken } from './support/signed-in.ts';

const service = await startTestService();
const browser = await startBrowser();
const { api } = service;
const PHONE = { viewport: { width: 360, height: 740 } };

test('a reseller who has bought nothing sees what to do, instead of an empty plot', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 45, price: 20 });
  const { page, faults } = await openConsole(browser, service, 'reseller', { token: reseller.token });
  await page.getByRole('heading', { name: 'No keys bought in the last 30 days' }).waitFor();
  await gone(page.locator('canvas'));
  await page.getByRole('region', { name: 'Sales' }).getByRole('link', { name: 'Buy keys' }).click();
  await page.getByLabel('Number of keys').waitFor();
  expect(faults).toEqual([]);
});

test('a reseller signs in on a phone, buys keys, and returns one', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 45, commission_margin: 50, price: 20 });
  const { page, faults } = await openPage(browser, {
    ...PHONE,
    origin: service.baseUrl,
    now: service.clock.now(),
  });
  await page.goto(`${service.baseUrl}/dashboard/reseller/keys?status=unused`);
  await signInWithToken(page, reseller.token);
  await page.getByRole('heading', { name: 'No key matches' }).waitFor();
  await expect.poll(() => page.url()).toMatch(/\/dashboard\/reseller\/keys\?status=unused$/);

  await page.getByRole('navigation', { name: 'Pages at the bottom' }).getByText('Buy keys').click();
  await page.getByLabel('Number of keys').fill('5');
  await page.getByText('You are $5.00 short').waitFor();
  await page.getByRole('button', { name: 'Buy 5 keys', disabled: true }).waitFor();
  await page.getByRole('button', { name: 'One less' }).click();
  await page.getByRole('button', { name: 'Buy 4 keys for $40.00' }).click();
  await page.getByText('4 keys bought for $40.00').waitFor();
  const shown = await page.getByRole('group', { name: 'Keys' }).textContent();
  expect(shown!.split('\n')).toHaveLength(4);
  expect(await reseller.balance()).toBe(5);

  await page.getByRole('link', { name: 'All keys' }).click();
  await page.getByRole('button', { name: shown!.split('\n')[0]! }).click();
  await page.getByRole('button', { name: 'Return key' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Return key' }).click();
  await page.getByText('You got $10.00 back').waitFor();
  await page.getByText('3 keys').waitFor();
  expect(await reseller.balance()).toBe(15);
  expect(faults).toEqual([]);
});

test('a refused purchase says what to do', async () => {
  const reseller = await newReseller(api, await newApp(api), { balance: 10, price: 10 });
  const { page } = await openConsole(browser, service, 'reseller', { ...PHONE, token: reseller.token });
  await page.getByRole('link', { name: 'Buy keys' }).first().click();
  await page.getByText('Balance after it').waitFor();
  // Another tab spends the balance in the meantime.
  await reseller.keys(1);
  await page.getByRole('button', { name: 'Buy 1 key for $10.00' }).click();
  await page.getByText('INSUFFICIENT_BALANCE').waitFor();
  await page.getByText('contact the developer for credit').waitFor();
  expect(await reseller.balance()).toBe(0);
});

test('a price that the developer changes is shown before keys are bought at it', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 100, price: 10 });
  const { page } = await openConsole(browser, service, 'reseller', { ...PHONE, token: reseller.token });
  await page.getByRole('link', { name: 'Buy keys' }).first().click();
  const before = page.getByRole('button', { name: 'Buy 1 key for $10.00' });
  await before.waitFor();
  await reseller.price({ app_id: app.app_id, tier: 'Pro', duration_days: 30, price: 15 });
  await before.click();
  await page.getByText('nothing was bought').waitFor();
  expect(await reseller.balance()).toBe(100);
  await page.getByRole('button', { name: 'Buy 1 key for $15.00' }).click();
  await page.getByText('1 key bought for $15.00').waitFor();
  expect(await reseller.balance()).toBe(85);
});

test('a reseller resets the machine of a user', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 10 });
  const [bought] = await reseller.keys(1);
  const user = await newUser(api, app);
  await api.activate(app.with({ username: user.username, license_key: bought!.license_key }));
  const { page } = await openConsole(browser, service, 'reseller', { token: reseller.token });
  await page.getByRole('link', { name: 'Users' }).first().click();
  await page.getByRole('button', { name: `Reset the machine of ${user.username}` }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Reset machine' }).click();
  await page.getByText(`The machine of ${user.username} is reset.`).waitFor();
  const elsewhere = await api.login(app.with({ ...user, hwid: 'f'.repeat(64) }));
  expect(elsewhere.status).toBe(200);
});
