import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Developer } from '../../support/fixtures.ts';
import type { TestService } from '../../support/service.ts';
import { openPage, type Watched } from './browser.ts';

/** Signs in on the page that is open. */
export async function signIn(
  page: Page,
  { email, password }: Pick<Developer, 'email' | 'password'>,
): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Signs in on the page that is open with the token of a reseller or the administrator. */
export async function signInWithToken(page: Page, token: string): Promise<void> {
  await page.getByLabel(/(Reseller|Administrator) token/).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** A page of a reseller or the administrator, with the start page of their console open. */
export async function openConsole(
  browser: Browser,
  service: TestService,
  visitor: 'reseller' | 'administrator',
  { token, ...options }: BrowserContextOptions & { readonly token: string },
): Promise<Watched> {
  const watched = await openPage(browser, { ...options, origin: service.baseUrl, now: service.clock.now() });
  const { path, shows } = HOMES[visitor];
  await watched.page.goto(`${service.baseUrl}/dashboard${path}`);
  await signInWithToken(watched.page, token);
  await watched.page.getByText(shows).first().waitFor();
  return watched;
}

const HOMES = {
  reseller: { path: '/reseller', shows: 'Your prices' },
  administrator: { path: '/admin', shows: 'Connected services' },
} as const;

/** A page of a signed-in developer, with the dashboard's start page open. */
export async function openSignedIn(
  browser: Browser,
  service: TestService,
  developer: Developer,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const watched = await openPage(browser, { ...options, origin: service.baseUrl, now: service.clock.now() });
  await watched.page.goto(`${service.baseUrl}/dashboard`);
  await signIn(watched.page, developer);
  await watched.page.getByRole('heading', { name: 'Overview' }).waitFor();
  return watched;
}
