import type { BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { newApp, newDeveloper, newSession, newUser, type App, type Developer } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { startTestService } from '../support/service.ts';
import { startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openSignedIn } from './support/signed-in.ts';

const service = await startTestService();
const { api } = service;
const browser = await startBrowser();

/** A signed-in developer whose tabs close with the test, because streams that stay open slow down the others. */
async function open(developer: Developer, at = service) {
  const watched = await openSignedIn(browser, at, developer);
  const context = watched.page.context();
  onTestFinished(() => context.close());
  return { ...watched, context };
}

const eventsOf = ({ app_id }: App) => `${service.baseUrl}/dashboard/apps/${app_id}/events`;

/** How many streams the service has open. */
const openStreams = () => service.services.realtime.connected().streams;

const rowsOf = (page: Page, text: string) => page.locator('tbody tr[aria-rowindex]', { hasText: text });

/** A new page of the profile, with the events of an application that are live. */
async function openEvents(context: BrowserContext, app: App): Promise<Page> {
  const page = await context.newPage();
  await page.goto(eventsOf(app));
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

test('eight tabs have one stream, and another tab continues it when its tab closes', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { page: first, context, faults } = await open(developer);
  await first.goto(eventsOf(app));
  await first.getByText('Live', { exact: true }).waitFor();
  const others: Page[] = [];
  for (let n = 0; n < 7; n += 1) others.push(await openEvents(context, app));
  await expect.poll(openStreams).toBe(1);

  const before = await newUser(api, app);
  for (const page of [first, ...others]) await page.getByText(before.username).first().waitFor();

  // The first tab reads the stream. Events that happen while no tab does are not lost.
  await Promise.all([first.close(), newUser(api, app, { username: 'at-the-handover' })]);
  await newUser(api, app, { username: 'after-the-handover' });
  for (const page of others) await page.getByText('after-the-handover').first().waitFor();
  await expect.poll(openStreams).toBe(1);
  for (const page of others) {
    for (const name of [before.username, 'at-the-handover', 'after-the-handover'])
      await expect.poll(() => rowsOf(page, name).count()).toBe(1);
  }
  expect(faults).toEqual([]);

  for (const page of others) await page.close();
  await expect.poll(openStreams).toBe(0);
});

test('a tab of a browser without locks reads its own stream', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { page, faults } = await open(developer);
  await page.context().addInitScript(`Object.defineProperty(navigator, 'locks', { value: undefined })`);
  await page.goto(eventsOf(app));
  await page.getByText('Live', { exact: true }).waitFor();
  await newUser(api, app, { username: 'without-locks' });
  await page.getByText('without-locks').first().waitFor();
  await expect.poll(() => rowsOf(page, 'without-locks').count()).toBe(1);
  expect(faults).toEqual([]);
});

test('events that wait while the list is paused, filters, and the details of an event', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { page, faults } = await open(developer);
  await page.goto(`${eventsOf(app)}?type=user`);
  await page.getByText('No event matches').waitFor();
  // The list may be there before the stream, which would then read it again.
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await newUser(api, app, { username: 'first-user' });
  await newSession(api, app);
  await page.getByRole('button', { name: 'Show 2 new events' }).click();
  await page.getByText('first-user').first().waitFor();
  await gone(rowsOf(page, 'session.created'));

  await page.getByRole('button', { name: 'Resume' }).click();
  await newUser(api, app, { username: 'second-user' });
  const row = page.locator('tbody tr', { hasText: 'second-user' });
  await row.getByRole('button', { name: 'user.created' }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('"username": "second-user"').waitFor();
  const address = page.url();
  expect(address).toContain('event=evt_');
  await drawer.getByRole('button', { name: 'Only this user' }).click();
  await page.getByText('1 event', { exact: true }).waitFor();

  // The link shows the event also where the list does not have it.
  await page.goto(address.replace('type=user', 'type=webhook'));
  await page.getByRole('dialog').getByText('"username": "second-user"').waitFor();
  await page.getByRole('dialog').getByRole('link', { name: 'second-user' }).click();
  await page.getByRole('heading', { name: 'second-user' }).waitFor();
  expect(faults).toEqual([]);
});

test('a thousand events at once are shown in few steps', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { token } = developer;
  const path = `/api/v2/dev/apps/${app.app_id}/users`;
  const users = ['username', ...Array.from({ length: 1_000 }, (_, n) => `user-${n}`)].join('\n');
  const headers = { 'content-type': 'text/csv' };
  const imported = await api.post(`${path}/import`, users, { token, headers });
  expect(imported.status).toBe(201);
  const { page, faults } = await open(developer);
  await page.goto(`${eventsOf(app)}?type=user.banned`);
  await page.getByText('No event matches').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await page.evaluate(`
    window.changes = 0;
    new MutationObserver(() => (window.changes += 1)).observe(document.querySelector('main'), {
      childList: true, subtree: true,
    })`);
  await api.post(`${path}/ban`, { all: true }, { token });
  await page.getByText('1,000 events').waitFor();
  await expect.poll(() => page.locator('tbody tr[aria-rowindex]').count()).toBeLessThanOrEqual(60);
  const changes = await page.evaluate<number>('window.changes');
  expect(changes).toBeLessThan(200);

  // Beyond what is kept, older events are read again when the reader scrolls to them.
  await api.post(`${path}/unban`, { all: true }, { token });
  await api.post(`${path}/ban`, { all: true }, { token });
  await page.getByText('+ events').waitFor();
  expect(faults).toEqual([]);
});

test('the checklist completes by the stream when the first login arrives', async () => {
  const developer = await newDeveloper(api);
  const { page, faults } = await open(developer);
  await page.getByText('Four steps to the first login').waitFor();
  const app = await newApp(api, developer);
  await page.getByText('Create an application (done)').waitFor();
  await newSession(api, app);
  await page.getByRole('heading', { name: 'Your program is connected' }).waitFor();
  await page.getByRole('button', { name: 'Hide' }).click();
  await gone(page.getByText('Log in from your program'));
  expect(faults).toEqual([]);
});

test('sessions are ended one by one and for a user, and appear when they begin', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { page, faults } = await open(developer);
  await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}/sessions`);
  await page.getByText('No live sessions').waitFor();
  const [one, other] = [await newSession(api, app), await newSession(api, app)];
  await page.getByText('2 sessions').waitFor();

  const verify = async (token: string) => (await api.verify({ app_id: app.app_id, token })).status;
  const menuOf = (username: string) => page.getByRole('button', { name: `Actions for ${username}` }).first();
  await menuOf(one.owner.username).click();
  await page.getByRole('menuitem', { name: 'End this session' }).click();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await page.getByText('1 session', { exact: true }).waitFor();
  expect(await verify(one.token)).toBe(401);
  await menuOf(other.owner.username).click();
  await page.getByRole('menuitem', { name: 'End all sessions' }).click();
  await page.getByRole('button', { name: 'End all', exact: true }).click();
  await page.getByText('No live sessions').waitFor();
  expect(await verify(other.token)).toBe(401);
  expect(faults).toEqual([]);
});

test('bans of each kind are created, in force, and lifted', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const session = await newSession(api, app);
  const { page } = await open(developer);
  await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}/bans?create=yes`);
  const dialog = page.getByRole('dialog');
  const create = async (kind: string, field: string, value: string) => {
    await dialog.getByLabel('What to ban').selectOption(kind);
    await dialog.getByLabel(field).fill(value);
    await dialog.getByRole('button', { name: 'Ban', exact: true }).click();
    await gone(dialog);
  };
  const loginCode = async () => (await api.login(app.with(session.owner))).body as { code?: string };
  const createAnother = async (...ban: Parameters<typeof create>) => {
    await page.getByRole('button', { name: 'Create ban' }).first().click();
    await create(...ban);
  };
  // The address opens the first dialog.
  await create('network', 'Address or network', '203.0.113.0/24');
  await createAnother('user', 'User name', session.owner.username);
  expect((await loginCode()).code).toBe('USER_BANNED');
  await createAnother('machine', 'Machine identifier', session.owner.hwid);
  await page.getByText('3 bans').waitFor();
  expect((await loginCode()).code).toBe('HWID_BANNED');

  await page.getByLabel('Kind').selectOption('hardware');
  await page.getByText('1 ban', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Lift' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Lift' }).click();
  await page.getByText('No ban matches').waitFor();
  expect((await loginCode()).code).toBe('USER_BANNED');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByText('2 bans').waitFor();

  // A refusal stays in the dialog, with what was entered.
  await page.getByRole('button', { name: 'Create ban' }).click();
  await dialog.getByLabel('User name').fill('no-one');
  await dialog.getByRole('button', { name: 'Ban', exact: true }).click();
  await dialog.getByText('USER_NOT_FOUND').waitFor();
});

test('a session that ended elsewhere leads to the sign-in, and the stream then continues without a gap', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { page, context } = await open(developer);
  await page.goto(eventsOf(app));
  await page.getByText('Live', { exact: true }).waitFor();
  const second = await openEvents(context, app);
  await api.call('DELETE', '/api/v2/dev/sessions', undefined, { token: developer.token });
  // As the service does within 15 seconds.
  await context.setOffline(true);
  await newUser(api, app, { username: 'while-signed-out' });
  await context.setOffline(false);
  for (const each of [page, second]) await each.getByText('Sign in again').first().waitFor();
  await second.bringToFront();
  await second.getByLabel('Password').fill(developer.password);
  await second.getByRole('button', { name: 'Sign in' }).click();
  // Signing in once is enough for both.
  for (const each of [page, second]) {
    await gone(each.getByRole('alertdialog'));
    await each.getByText('while-signed-out').first().waitFor();
    await expect.poll(() => rowsOf(each, 'while-signed-out').count()).toBe(1);
  }
});

test('another account in the browser gets no tab of the first one', async () => {
  const [developer, stranger] = [await newDeveloper(api), await newDeveloper(api)];
  const [app, foreign] = [await newApp(api, developer), await newApp(api, stranger)];
  const { page } = await open(developer);
  const left = await openEvents(page.context(), app);
  await page.getByRole('button', { name: developer.email }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Email').fill(stranger.email);
  await page.getByLabel('Password').fill(stranger.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await newUser(api, foreign, { username: 'of-the-stranger' });
  await expect.poll(() => left.getByText('Live', { exact: true }).count()).toBe(0);
  await gone(left.getByText('of-the-stranger'));
});

test('the stream continues after a restart of the service', async () => {
  // A port that nothing else gets in between.
  const first = await startTestService({ PORT: String(await freePort()) });
  const developer = await newDeveloper(first.api);
  const app = await newApp(first.api, developer);
  const { page } = await open(developer, first);
  await page.goto(`${first.baseUrl}/dashboard/apps/${app.app_id}/events`);
  await page.getByText('Live', { exact: true }).waitFor();
  await first.stop();
  await page.getByText('Not connected').waitFor();
  const second = await startTestService({
    DATABASE_URL: first.databaseUrl,
    PORT: new URL(first.baseUrl).port,
  });
  await newUser(second.api, app, { username: 'after-the-restart' });
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText('after-the-restart').first().waitFor();
  await expect.poll(() => rowsOf(page, 'after-the-restart').count()).toBe(1);
});
