import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { consoleOfPath, returnPath } from '../../dashboard/src/shell/consoles.ts';
import { newReseller } from '../operations/support/resellers.ts';
import { ADMINISTRATOR } from '../support/billing.ts';
import { newBrowserSession } from '../support/browser-session.ts';
import { newApp, newDeveloper, unique } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { openPage, startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openConsole, openSignedIn, signIn, signInWithToken } from './support/signed-in.ts';

describe('after a sign-in', () => {
  test.each([
    ['developer', '/apps/app_1/users?q=a#b', '/apps/app_1/users?q=a#b'],
    ['developer', '/resellers', '/resellers'],
    ['reseller', '/reseller/keys?status=unused', '/reseller/keys?status=unused'],
    ['administrator', '/admin', '/admin'],
  ] as const)('a %s returns to %s', (kind, wanted, path) => expect(returnPath(kind, wanted)).toBe(path));

  test.each([
    ['developer', '/admin/plans'],
    ['developer', '/reseller'],
    ['developer', '/apps/../admin'],
    ['developer', '//example.com/'],
    ['developer', '/\\example.com/'],
    ['developer', '/..//example.com/'],
    ['developer', 'https://example.com/'],
    ['developer', 'javascript:alert(1)'],
    ['developer', '/sign-in'],
    ['developer', undefined],
    ['reseller', '/resellers'],
    ['reseller', '/reseller/%2e%2e/admin'],
    ['reseller', '/reseller/sign-in'],
    ['administrator', '/'],
    ['administrator', '/administrator'],
  ] as const)('a %s does not return to %s', (kind, wanted) => {
    const path = returnPath(kind, wanted);
    expect(consoleOfPath(path)).toBe(kind);
    expect(path).toBe({ developer: '/', reseller: '/reseller', administrator: '/admin' }[kind]);
  });
});

describe('in a browser', async () => {
  const service = await startTestService();
  const browser = await startBrowser();
  const { api, baseUrl } = service;
  const REPLACED = 'Signed in as another account';

  test('a session of another kind leads to its own console, which says why', async () => {
    const { token } = await newReseller(api, await newApp(api));
    const { page, faults } = await openConsole(browser, service, 'reseller', { token });
    await page.goto(`${baseUrl}/dashboard/admin/plans`);
    await page.getByText('This browser is signed in as a reseller').waitFor();
    await expect.poll(() => page.url()).toBe(`${baseUrl}/dashboard/reseller`);
    await page.getByRole('link', { name: 'Sign in as the administrator' }).click();
    await page.getByText('Signing in here replaces that session in all tabs.').waitFor();
    // The token of a reseller leads to the reseller's console from every sign-in.
    await signInWithToken(page, token);
    await page.getByText('Your prices').waitFor();
    expect(faults).toEqual([]);
  });

  test('a tab whose session another tab has replaced says so, and keeps the draft', async () => {
    const developer = await newDeveloper(api);
    const { token } = await newReseller(api, await newApp(api));
    const { page, faults } = await openSignedIn(browser, service, developer);
    await page.getByRole('button', { name: 'Create application' }).first().click();
    await page.getByLabel('Name').fill('A draft');

    const other = await page.context().newPage();
    await other.goto(`${baseUrl}/dashboard/reseller/sign-in`);
    await signInWithToken(other, token);
    await other.getByText('Your prices').waitFor();
    await page.getByRole('heading', { name: REPLACED }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Password').fill(developer.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await gone(page.getByRole('heading', { name: REPLACED }));
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Copy the application secret now').waitFor();

    await other.getByRole('heading', { name: REPLACED }).waitFor();
    await other.getByRole('button', { name: 'Open the dashboard of the other account' }).click();
    await other.getByText('A draft').first().waitFor();
    expect(faults).toEqual([]);
  });

  test('a session that was replaced without a word is found out by the next request', async () => {
    const { token } = await newReseller(api, await newApp(api));
    const { page } = await openSignedIn(browser, service, await newDeveloper(api));
    const { headers } = await newBrowserSession(api, { token });
    const [name, value] = headers['cookie']!.split('=') as [string, string];
    await page.getByRole('button', { name: 'Create application' }).first().click();
    await page.getByLabel('Name').fill('A draft');
    await page.context().addCookies([{ name, value, url: baseUrl, httpOnly: true, sameSite: 'Strict' }]);
    // Not a click: the next request of the event stream may come first and open the dialog over the button.
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: REPLACED }).waitFor();
    await page.getByRole('button', { name: 'Open the reseller console' }).click();
    await page.getByText('Your prices').waitFor();
  });

  test('the administrator signs in again over the page, signs out, and signs in as another kind', async () => {
    const { page, faults } = await openConsole(browser, service, 'administrator', ADMINISTRATOR);
    await page.getByRole('link', { name: 'Plans' }).click();
    await page.getByRole('button', { name: 'Create plan' }).click();
    await page.getByLabel('Name').fill('A draft');
    await page.context().clearCookies();
    await page.getByLabel('Price in USD').fill('5');
    await page.getByRole('button', { name: 'Create plan' }).last().click();
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await signInWithToken(page, ADMINISTRATOR.token);
    await page.getByText('A draft is for sale.').waitFor();

    await page.getByRole('button', { name: 'Administrator' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in as the administrator' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.getByRole('link', { name: 'Developer sign-in' }).click();
    await signIn(page, await newDeveloper(api));
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('by keyboard alone: an account is created, and its owner is signed in', async () => {
    const { page, faults } = await openPage(browser, { origin: baseUrl, now: service.clock.now() });
    const email = `${unique('grace')}@example.com`;
    await page.goto(`${baseUrl}/dashboard`);
    await page.getByLabel('Email').and(page.locator(':focus')).waitFor();
    for (const name of ['Password', 'Sign in', 'Forgot your password?', 'Create an account'])
      await tabTo(page, name);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Create an account' }).waitFor();
    await page.getByLabel('Email').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(email);
    await tabTo(page, 'Password');
    await page.keyboard.type('nanoseconds are this long');
    await tabTo(page, 'Name (optional)');
    await page.keyboard.type('Grace');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No applications yet' }).waitFor();
    await expect.poll(() => page.url()).toBe(`${baseUrl}/dashboard/`);
    await page.getByRole('button', { name: email }).waitFor();
    expect(faults).toEqual([]);
    // The token of the registration, which is for programs, stays nowhere.
    await expect
      .poll(() => page.evaluate('JSON.stringify([localStorage, sessionStorage])'))
      .not.toContain('eyJ');
  });

  test('an email that has an account is refused with the way to sign in, and the form keeps its content', async () => {
    const { email } = await newDeveloper(api);
    const { page } = await openPage(browser, { origin: baseUrl, now: service.clock.now() });
    await page.goto(`${baseUrl}/dashboard/sign-up?return=/plan`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('another password');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('An account with this email address already exists.').waitFor();
    await expect.poll(() => page.getByLabel('Email').inputValue()).toBe(email);

    await page.getByRole('link', { name: 'Sign in', exact: true }).click();
    await signIn(page, { email, password: 'a wrong password' });
    await page.getByText('The email or the password is wrong.').waitFor();
    await expect.poll(() => page.url()).toContain('return=');
  });
});

/** Moves the focus to the next control, which is the one that is named. */
async function tabTo(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Tab');
  const control = page.getByLabel(name, { exact: true }).or(page.getByText(name, { exact: true }));
  await control.and(page.locator(':focus')).waitFor();
}
