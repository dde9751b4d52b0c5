import { mkdirSync } from 'node:fs';
import * as client from 'openid-client';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { pageFor } from '../operations/support/agents.ts';
import { readGuides } from '../../src/http/pages/guides/guides.ts';
import { newResetToken } from '../operations/support/passwords.ts';
import { openCheckout, payWith, sellPlan } from '../support/billing.ts';
import { newDeveloper } from '../support/fixtures.ts';
import { beginAuthorization, discover, newClient } from '../support/oauth.ts';
import { startTestService } from '../support/service.ts';
import { openPage, startBrowser, type Watched } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { violationsOf } from './support/page-checks.ts';

const service = await startTestService();
const { api, baseUrl } = service;
const developer = await newDeveloper(api);
const browser = await startBrowser();

/** A folder for a picture of each page, to look at. */
const PICTURES = process.env['DASHBOARD_PICTURES'];
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

const LOOKS = [
  { look: 'light', colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  { look: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  { look: '360 px', colorScheme: 'light', viewport: { width: 360, height: 740 } },
] as const;

/** A name of 64 characters, without a place to break it. */
const LONG = `<img onerror=alert(1)>${'W'.repeat(42)}`;

const plan = await sellPlan(api);
const checkout = async () => (await openCheckout(api, await newDeveloper(api), plan)).url;
const paid = await openCheckout(api, developer, plan);
await payWith('pays', paid);

async function claimPage(): Promise<string> {
  const { email } = await newDeveloper(api);
  await api.post('/api/v1/agent/register', {
    type: 'identity_assertion',
    assertion_type: 'verified_email',
    assertion: email,
  });
  return pageFor(service, email);
}

async function deviceCodeAddress(): Promise<string> {
  const device = await newClient(api, developer, {
    redirect_uris: [],
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    scopes: ['openid', 'read'],
  });
  const started = await client.initiateDeviceAuthorization(await discover(baseUrl, device), {
    scope: 'openid read',
  });
  return started.verification_uri_complete!;
}

/** The pages that need only an address. */
const ADDRESSES: Readonly<Record<string, () => string | Promise<string>>> = {
  'the front page': () => '/',
  'the plain list of operations': () => '/docs/operations',
  'an operation': () => '/docs/loginUserV2',
  guides: () => '/guides',
  ...Object.fromEntries(readGuides().map(({ name }) => [`the guide ${name}`, () => `/guides/${name}`])),
  errors: () => '/errors',
  'an error': () => '/errors/hwid-mismatch',
  deprecations: () => '/deprecations',
  'no page': () => '/nowhere',
  'a forgotten password': () => '/account/password',
  'a new password': async () => `/account/password/${await newResetToken(service, developer.email)}`,
  'an expired link': () => '/account/password/nothing',
  'a payment': checkout,
  'a receipt': () => `${paid.url}/receipt`,
  'a claim': claimPage,
  'a device': deviceCodeAddress,
};

/** Dates in tables that are stacked, without the heading of their column. */
const UNLABELED_DATES = String.raw`[...document.querySelectorAll('td')]
  .filter((cell) => /^\d{4}-\d\d-\d\d$/.test(cell.textContent))
  .filter((cell) => !/\w/.test(getComputedStyle(cell, '::before').content.replace(/^none$/, '')))
  .map((cell) => cell.outerHTML)`;

/** Buttons that are too narrow for their text. */
const CUT_BUTTONS = `[...document.querySelectorAll('main button')]
  .filter((each) => each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.outerHTML.slice(0, 200))`;

/** Controls of the form for a request that are outside of the window, and a button to send it that is covered. */
const OUTSIDE_THE_FORM = `[...document.querySelectorAll('[role="dialog"] :is(button, [role="textbox"])')]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest('.cm-scroller'))
  .filter((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    if (left < 0 || right > innerWidth + 1) return true;
    const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    const isScrolledAway = found === null || !found.closest('[role="dialog"]');
    return !isScrolledAway && /^Send/.test(each.textContent) && !each.contains(found);
  })
  .map((each) => each.outerHTML.slice(0, 200))`;

/** What makes two sign-ins look the same. */
const MEASURES = `(() => {
  const password = document.querySelector('input[type="password"]');
  const label = password.labels[0];
  const button = [...document.querySelectorAll('button')].find((each) => each.textContent.trim() === 'Sign in');
  const round = (value) => 4 * Math.round(parseFloat(value) / 4);
  const { fontWeight, fontSize, color } = getComputedStyle(label);
  return {
    field: [round(password.offsetHeight), round(password.offsetWidth), getComputedStyle(password).borderRadius],
    label: [fontWeight, fontSize, color],
    button: [getComputedStyle(button).fontWeight, getComputedStyle(button).backgroundColor],
    heading: getComputedStyle(document.querySelector('h1')).fontWeight,
  };
})()`;

/** Delays a file that a page loads. */
async function holdBack(page: Page, file: RegExp): Promise<{ release(): void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(file, async (route) => {
    await promise;
    await route.continue();
  });
  return { release: resolve };
}

test('the form of the reference sends a request, and markup stays text', async () => {
  const { page, faults } = await openPage(browser, { origin: baseUrl, now: service.clock.now() });
  await page.goto(`${baseUrl}/docs#tag/client/loginUserV2`);
  await page.getByRole('button', { name: /^Test/ }).first().click();
  const [response] = await Promise.all([
    page.waitForResponse((each) => each.request().method() === 'POST'),
    page.getByRole('button', { name: /^Send/ }).first().click(),
  ]);
  const { code } = (await response.json()) as { readonly code: string };
  await page.getByText(code).first().waitFor();
  await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<img id="hostile" src="x">')`);
  await page.getByText('<img id="hostile" src="x">').waitFor();
  await gone(page.locator('#hostile'));
  expect(faults.filter((fault) => !/status of 4\d\d/.test(fault))).toEqual([]);
});

test('an operation of the reference is found by keyboard alone', async () => {
  const { page, faults } = await openPage(browser, { origin: baseUrl, now: service.clock.now() });
  await page.goto(`${baseUrl}/docs`);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('rotateApplicationSecret');
  await page
    .getByRole('option', { name: /Rotate/ })
    .first()
    .waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#tag\/.*rotateApplicationSecret/i);
  expect(faults).toEqual([]);
});

test('the sign-in of a client looks like that of the dashboard', async () => {
  const { page } = await openPage(browser, { origin: baseUrl, now: service.clock.now() });
  const { url } = await beginAuthorization(baseUrl, await newClient(api, developer));
  await page.goto(url.href);
  await page.getByLabel('Password').waitFor();
  const ofClient = await page.evaluate(MEASURES);
  await page.goto(`${baseUrl}/dashboard`);
  await page.getByLabel('Password').waitFor();
  expect(ofClient).toEqual(await page.evaluate(MEASURES));
});

// The list of operations is long, and axe reads every row.
describe.each(LOOKS)('in $look', ({ look, colorScheme, viewport }) => {
  let watched: Watched;
  beforeAll(async () => {
    watched = await openPage(browser, {
      origin: baseUrl,
      now: service.clock.now(),
      colorScheme,
      viewport,
    });
  });

  async function check(name: string): Promise<void> {
    const { page, faults } = watched;
    if (PICTURES) {
      const path = `${PICTURES}/${name.replace(/\W+/g, '-')}-${look.replace(/\W+/g, '')}.png`;
      await page.screenshot({ path });
    }
    const found = await violationsOf(watched);
    // Browsers report the status of a page that is not there, and of a form that is refused.
    const reported = faults.filter((fault) => !/^console: .* status of (404|422) /.test(fault));
    expect([...reported, ...found]).toEqual([]);
    await expect
      .poll(() =>
        page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
      )
      .toBe(true);
  }

  test.each(Object.entries(ADDRESSES))('%s', async (name, address) => {
    const { page } = watched;
    await page.goto(new URL(await address(), baseUrl).href);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await gone(page.locator('script'));
    await check(name);
  });

  test('the bank of a payment', async () => {
    const { page } = watched;
    await page.goto(await checkout());
    await page.getByLabel('Name on card').fill('Ada Lovelace');
    await page.getByLabel('Card number').fill('4242');
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.getByRole('alert').waitFor();
    await check('a payment with faults');
    await page.getByLabel('Card number').fill('4000 0025 0000 3155');
    await page.getByLabel('Expires').fill('12 / 30');
    await page.getByLabel('Security code').fill('123');
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.getByRole('heading', { name: 'Approve this payment?' }).waitFor();
    await check('the bank');
  });

  test('the sign-in and the consent to a client with a hostile name', async () => {
    const { page } = watched;
    const { url } = await beginAuthorization(baseUrl, await newClient(api, developer, { name: LONG }));
    await page.goto(url.href);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await check('the sign-in of a client');
    await page.getByLabel('Email address').fill(developer.email);
    await page.getByLabel('Password').fill(developer.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'to act for you?' }).waitFor();
    await check('the consent');
  });

  test.runIf(look === '360 px')('dates of deprecations say what they are', async () => {
    const { page } = watched;
    await page.goto(`${baseUrl}/deprecations`);
    await page.getByRole('cell').first().waitFor();
    await expect.poll(() => page.evaluate(UNLABELED_DATES)).toEqual([]);
  });

  test('the reference while it loads', async () => {
    const { page } = watched;
    const bundle = await holdBack(page, /\/docs\/assets\/scalar-/);
    await page.goto(`${baseUrl}/docs`, { waitUntil: 'commit' });
    await page.getByText('The interactive reference is loading.').waitFor();
    await page.getByRole('link', { name: 'Log in an end user with a signed request' }).waitFor();
    await check('the reference while it loads');
    bundle.release();
    await page.getByRole('heading', { level: 1, name: 'Latchkey' }).waitFor();
    await gone(page.locator('.loading, #plain'));
    await page.unrouteAll();
  });

  test('the reference', async () => {
    const { page, idle } = watched;
    await page.goto(`${baseUrl}/docs`);
    await page.getByRole('heading', { level: 1, name: 'Latchkey' }).waitFor();
    await idle();
    await check('the reference');
    await expect.poll(() => page.evaluate(CUT_BUTTONS)).toEqual([]);
  });

  test('an operation of the reference, and the form for its request', async () => {
    const { page, idle } = watched;
    // Another address of the same page would not load it again.
    await page.goto('about:blank');
    await page.goto(`${baseUrl}/docs#tag/client/loginUserV2`);
    await page.getByRole('heading', { name: 'Log in an end user with a signed request' }).waitFor();
    await idle();
    await check('an operation of the reference');
    const test = page.getByRole('button', { name: /^Test/ }).first();
    await test.click();
    const form = page.getByRole('dialog');
    await form.getByRole('button', { name: /^Send post request/ }).waitFor();
    await form.getByRole('textbox', { name: 'Request body' }).waitFor();
    await idle();
    await check('the form of the reference');
    await expect.poll(() => page.evaluate(OUTSIDE_THE_FORM)).toEqual([]);
    await page.keyboard.press('Escape');
    await test.and(page.locator(':focus')).waitFor();
    // It fades out.
    await gone(form);
    await check('the reference after its form');
  });
});
