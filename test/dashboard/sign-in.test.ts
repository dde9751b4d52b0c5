import { describe, expect, test } from 'vitest';
import { consoleOfPath, returnPath } from '../../dashboard/src/shell/consoles.ts';
import { newReseller } from '../operations/support/resellers.ts';
import { ADMINISTRATOR } from '../support/billing.ts';
import { newBrowserSession } from '../support/browser-session.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startBrowser } from './support/browser.ts';
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
});
