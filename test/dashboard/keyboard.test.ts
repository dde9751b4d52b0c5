import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { openPage, startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openSignedIn, signIn } from './support/signed-in.ts';

const service = await startTestService();
const browser = await startBrowser();

test('by keyboard alone: from the sign-in to the event of a ban', async () => {
  const developer = await newDeveloper(service.api);
  const { page, faults } = await openPage(browser, { origin: service.baseUrl, now: service.clock.now() });
  /** What the focus is on, if it is a control. */
  const focused = () =>
    page.evaluate<string | undefined>(`(({ tagName, textContent, labels }) =>
      ['BUTTON', 'A', 'INPUT'].includes(tagName) ? textContent || labels?.[0]?.textContent : undefined
    )(document.activeElement)`);
  /** Moves the focus until it is on what is named. */
  const goTo = async (name: string) => {
    for (let presses = 0; presses < 40; presses += 1) {
      if ((await focused()) === name) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`${name} cannot be reached`);
  };

  /** A control is visible before it takes the focus. */
  const focusOn = (control: Locator) => control.and(page.locator(':focus')).waitFor();

  await page.goto(`${service.baseUrl}/dashboard`);
  await focusOn(page.getByLabel('Email'));
  await page.keyboard.type(developer.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(developer.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'No applications yet' }).waitFor();

  await page.keyboard.press('Tab');
  await goTo('Create application');
  await page.keyboard.press('Enter');
  await focusOn(page.getByLabel('Name'));
  await page.keyboard.type('Keyboard Studio');
  await page.keyboard.press('Enter');
  await page.getByText('Copy the application secret now').waitFor();
  await goTo('Open the application');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Keyboard Studio' }).waitFor();

  await page.keyboard.press('Control+k');
  await focusOn(page.getByRole('combobox', { name: 'Go to' }));
  await page.keyboard.type('licen');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'No license keys yet' }).waitFor();
  await goTo('Create keys');
  await page.keyboard.press('Enter');
  await focusOn(page.getByLabel('Number of keys'));
  await page.keyboard.press('Enter');
  await page.getByText('10 keys created').waitFor();
  await page.keyboard.press('Escape');
  await gone(page.getByRole('dialog'));
  await page.getByText('10 licenses').waitFor();

  const { body } = await service.api.call<{ data: { app_id: string }[] }>(
    'GET',
    '/api/v2/dev/apps',
    undefined,
    developer,
  );
  const [{ app_id: appId }] = body.data as [{ app_id: string }];
  await service.api.post(`/api/v2/dev/apps/${appId}/users`, { username: 'mallory' }, developer);
  const watching = await page.context().newPage();
  await watching.goto(`${service.baseUrl}/dashboard/apps/${appId}/events`);
  await watching.getByText('Live', { exact: true }).waitFor();
  await page.bringToFront();

  const openPageOf = async (name: string) => {
    await page.keyboard.press('Control+k');
    await focusOn(page.getByRole('combobox', { name: 'Go to' }));
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };
  await openPageOf('Users');
  await page.getByText('1 user', { exact: true }).waitFor();
  await goTo('mallory');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'mallory' }).waitFor();
  await goTo('Ban');
  await page.keyboard.press('Enter');
  await focusOn(page.getByRole('button', { name: 'Cancel' }));
  await goTo('Ban');
  await page.keyboard.press('Enter');
  await gone(page.getByRole('alertdialog'));
  await watching.getByRole('button', { name: 'user.banned' }).waitFor();

  await openPageOf('Events');
  await page.getByRole('button', { name: 'user.banned' }).waitFor();
  await goTo('user.banned');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('"type": "user.banned"').waitFor();
  await page.keyboard.press('Escape');
  await gone(page.getByRole('dialog'));
  // The focus is on the row again.
  await expect.poll(focused).toContain('user.banned');
  expect(faults).toEqual([]);
});

test('a dialog returns the focus to its button', async () => {
  const { page } = await openSignedIn(browser, service, await newDeveloper(service.api));
  const button = page.getByRole('button', { name: 'Show as curl' });
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await gone(page.getByRole('dialog'));
  await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Show as curl');
});

test('the first stop of the keyboard skips the navigation', async () => {
  const { page } = await openSignedIn(browser, service, await newDeveloper(service.api));
  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Tab');
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
});

test('a session that has ended elsewhere opens the sign-in over the page and keeps the draft', async () => {
  const developer = await newDeveloper(service.api);
  const before = service.services.realtime.connected().streams;
  const { page } = await openSignedIn(browser, service, developer);
  await page.getByRole('button', { name: 'Create application' }).first().click();
  await page.getByLabel('Name').fill('A draft');
  // A stream that opens after its session has ended would open the dialog before the button is pressed.
  await expect.poll(() => service.services.realtime.connected().streams).toBeGreaterThan(before);
  await service.api.call('DELETE', '/api/v2/dev/sessions', undefined, { token: developer.token });
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  await page.getByLabel('Password').fill(developer.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Copy the application secret now').waitFor();
  await expect.poll(() => page.getByText('A draft').count()).toBeGreaterThan(0);
});

test('the address of a link cannot lead to another site after the sign-in', async () => {
  const developer = await newDeveloper(service.api);
  const { page, faults } = await openPage(browser, { origin: service.baseUrl, now: service.clock.now() });
  await page.goto(`${service.baseUrl}/dashboard/sign-in?return=//example.com/`);
  await signIn(page, developer);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await expect.poll(() => new URL(page.url()).origin).toBe(service.baseUrl);
  expect(faults).toEqual([]);
});

test('no token is in the document or its storage, and the cookie is not for scripts', async () => {
  const { page } = await openSignedIn(browser, service, await newDeveloper(service.api));
  const stored = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  );
  expect(stored).toBe('[{},{},""]');
  const cookies = await page.context().cookies();
  expect(cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite }))).toEqual([
    { httpOnly: true, sameSite: 'Strict' },
  ]);
});
