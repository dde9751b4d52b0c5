import { mkdirSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import * as client from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { pageFor } from '../operations/support/agents.ts';
import { newResetToken } from '../operations/support/passwords.ts';
import { openCheckout, payWith, sellPlan } from '../support/billing.ts';
import { newDeveloper } from '../support/fixtures.ts';
import { beginAuthorization, discover, newClient } from '../support/oauth.ts';
import { startTestService } from '../support/service.ts';
import { openPage, startBrowser, type Watched } from './support/browser.ts';
import { gone } from './support/gone.ts';

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

test('the form of the reference sends a request, and markup stays text', async () => {
  const { page, faults } = await openPage(browser, { origin: baseUrl, now: service.clock.now() });
  await page.goto(`${baseUrl}/docs#tag/client/loginUserV2`);
  await page.getByRole('button', { name: /^Test/ }).first().click({ timeout: 45_000 });
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
  await page.getByRole('heading', { level: 1 }).first().waitFor({ timeout: 45_000 });
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
    const { violations } = await new AxeBuilder({ page })
      // The markup of the interactive reference is not ours; the plain pages are for everyone.
      .exclude('#reference')
      .setLegacyMode(true)
      .options({ resultTypes: ['violations'] })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
      .analyze();
    const found = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
    );
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

  test('the interactive reference', async () => {
    const { page, idle } = watched;
    await page.goto(`${baseUrl}/docs#tag/client/loginUserV2`);
    await page
      .getByRole('heading', { name: 'Log in an end user with a signed request' })
      .waitFor({ timeout: 45_000 });
    await idle();
    await check('the reference');
  });
});
