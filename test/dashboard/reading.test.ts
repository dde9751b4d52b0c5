import { expect, test } from 'vitest';
import { DAY } from '../support/clock.ts';
import { newApp, newDeveloper, newHwid, newUser, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startBrowser } from './support/browser.ts';
import { openSignedIn } from './support/signed-in.ts';

const service = await startTestService();
const { api, baseUrl } = service;
const developer = await newDeveloper(api);
const { page } = await openSignedIn(await startBrowser(), service, developer);

/** Opens a page of a new application. */
async function open(path: string, prepare: (app: App) => Promise<unknown> = () => Promise.resolve()) {
  const app = await newApp(api, developer);
  await prepare(app);
  await page.goto(`${baseUrl}/dashboard/apps/${app.app_id}${path}`);
  return app;
}

test('plots say that today is not over, and changes say what they compare with', async () => {
  await open('', async ({ app_id }) => {
    const day = (ago: number) =>
      new Date(service.clock.now().getTime() - ago * DAY).toISOString().slice(0, 10);
    const logins = { app_id, metric: 'logins', dimension: 'total', value: '' };
    await service.database.knex('daily_statistics').insert([
      { ...logins, day: day(1), count: 20 },
      { ...logins, day: day(31), count: 10 },
    ]);
  });
  await page.getByText('+100%').waitFor();
  await page.getByText('Changes in percent compare with the 30 days before.').waitFor();
  await page.getByRole('button', { name: 'Table of Logins by tier' }).click();
  const names = page.getByRole('figure', { name: 'Logins by tier' }).locator('tbody th');
  await expect.poll(() => names.last().textContent()).toMatch(/ so far$/);
  await page
    .getByRole('figure', { name: 'Logins by version' })
    .getByText(/ so far: /)
    .waitFor();
});

test('an event shows times in the zone of the reader', async () => {
  await open('/events', async (app) => {
    const user = { username: 'ada', password: 'a user password', hwid: newHwid() };
    await api.register(app.with(user));
    const [key] = await app.keys(1, 'Standard');
    await api.activate(app.with({ username: 'ada', license_key: key! }));
  });
  const row = page.locator('tbody tr', { hasText: 'license.redeemed' });
  await row.locator('time').first().waitFor();
  await expect.poll(() => row.textContent()).not.toMatch(/\dT\d\d:/);
});

test('a license that someone has redeemed links to them by name', async () => {
  const app = await open('/licenses', async (created) => {
    const user = await newUser(api, created, { username: 'grace' });
    const [key] = await created.keys(1, 'Standard');
    await api.activate(created.with({ username: user.username, license_key: key! }));
  });
  await page.getByRole('link', { name: 'grace' }).click();
  await page.getByRole('heading', { name: 'grace' }).waitFor();
  await expect.poll(() => page.url()).toContain(`/apps/${app.app_id}/users/usr_`);
});

test('a username that is taken is refused in words for someone who adds a user', async () => {
  await open('/users?create=yes', (app) => newUser(api, app, { username: 'ada' }));
  await page.getByLabel('Username').fill('ada');
  await page.getByRole('button', { name: 'Add user' }).last().click();
  await page.getByText('Choose another username.', { exact: true }).waitFor();
});

test('an application that does not exist leads to the overview', async () => {
  await page.goto(`${baseUrl}/dashboard/apps/app_01kazm4q7ffx8v5t2w9y3b6n1c/users`);
  await page.getByRole('heading', { name: 'Application not found' }).waitFor();
  await page.getByRole('link', { name: 'Go to the overview' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
