import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import type { components } from '../../generated/types.ts';
import { ADMINISTRATOR, buy, invoicesOf, sellPlan } from '../support/billing.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openConsole } from './support/signed-in.ts';

type Schemas = components['schemas'];

const service = await startTestService();
const browser = await startBrowser();
const { api } = service;
const { page, faults } = await openConsole(browser, service, 'administrator', ADMINISTRATOR);

const open = (path: string) => page.goto(`${service.baseUrl}/dashboard/admin${path}`);

const read = async <Body extends object>(path: string, token = ADMINISTRATOR.token) =>
  (await api.call<Body>('GET', path, undefined, { token })).body;

/** The dialog that is in front. */
const dialogOf = (on: Page) => on.getByRole('alertdialog');

test('the operator suspends a developer with the applications, and reinstates both', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const account = `/api/v2/admin/developers/${developer.developerId}`;
  await open('/developers');
  await page.getByLabel('Start of an email or a name').fill(developer.email);
  await page.waitForURL((url) => url.searchParams.has('q'));
  await page.getByText('1 developer', { exact: true }).waitFor();
  await page.getByRole('link', { name: developer.email }).click();

  await page.getByRole('button', { name: 'Suspend' }).click();
  await page.getByLabel('Reason (optional)').fill('Chargebacks');
  await page.getByLabel('Disable the applications, too').check();
  await dialogOf(page).getByRole('button', { name: 'Suspend' }).click();
  await page.getByText('1 application disabled with it').waitFor();
  const suspended = await read<Schemas['DeveloperAccountResult']>(account);
  expect(suspended).toMatchObject({ account_status: 'suspended', suspension_reason: 'Chargebacks' });

  await page.getByRole('button', { name: 'Reinstate' }).click();
  await dialogOf(page).getByRole('button', { name: 'Reinstate' }).click();
  await page.getByText(`${developer.email} is reinstated.`).waitFor();
  const own = await read<Schemas['ApplicationResult']>(`/api/v2/dev/apps/${app.app_id}`, developer.token);
  expect(own.status_code).toBe('active');
});

test('the operator sells a plan, changes its quotas, and archives it', async () => {
  await open('/plans');
  await page.getByRole('button', { name: 'Create plan' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('Console plan');
  await form.getByLabel('Price in USD').fill('12.5');
  await form.getByRole('button', { name: 'Create plan' }).click();
  await page.getByText('Console plan is for sale.').waitFor();

  await page.getByRole('button', { name: 'Console plan' }).click();
  await form.getByLabel('License keys (optional)').fill('500');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Console plan saved.').waitFor();
  const planOf = async () => {
    const { data } = await read<Schemas['AdminPlanList']>('/api/v2/admin/plans?limit=100');
    return data.find(({ name }) => name === 'Console plan')!;
  };
  expect(await planOf()).toMatchObject({
    price: 12.5,
    period: 'monthly',
    max_licenses: 500,
    archived: false,
  });

  await page.getByRole('button', { name: 'Console plan' }).click();
  await page.getByRole('button', { name: 'Archive' }).click();
  await dialogOf(page).getByRole('button', { name: 'Archive' }).click();
  await page.getByText('Console plan is archived.').waitFor();
  expect((await planOf()).archived).toBe(true);
});

test('the operator refunds a part of an invoice after typing the amount', async () => {
  const developer = await newDeveloper(api);
  const { invoice } = await buy(api, developer, await sellPlan(api, { price: 30 }));
  await open(`/invoices?developer=${developer.developerId}&invoice=${invoice.invoice_id}`);
  await page.getByRole('button', { name: 'Refund' }).click();
  const dialog = dialogOf(page);
  await dialog.getByLabel('Amount in USD').fill('31');
  await dialog.getByRole('button', { name: 'Refund', disabled: true }).waitFor();
  await dialog.getByLabel('Amount in USD').fill('12.5');
  await dialog.getByLabel('Type 12.5 USD to confirm').fill('12.5 USD');
  await dialog.getByRole('button', { name: 'Refund $12.50' }).click();
  await page.getByText('$12.50 are being refunded').waitFor();
  await vi.waitFor(async () => expect((await invoicesOf(api, developer))[0]!.refunded).toBe(12.5), 15_000);
});

test('a filter of invoices looks through all pages before it says that none matches', async () => {
  const { invoice } = await buy(api, await newDeveloper(api), await sellPlan(api, { price: 30 }));
  const pages = '**/api/v2/admin/invoices?*';
  const { promise: isSeen, resolve: see } = Promise.withResolvers<void>();
  await page.route(pages, async (route) => {
    const isFirst = !new URL(route.request().url()).searchParams.has('cursor');
    if (!isFirst) await isSeen;
    await route.fulfill({ json: { data: [invoice], next_cursor: isFirst ? 'next' : null } });
  });
  await open('/invoices?state=disputed');
  await page.getByText('1 invoice looked at').waitFor();
  await gone(page.getByText('No invoice matches'));
  see();
  await page.getByText('No invoice matches').waitFor();
  await page.unroute(pages);
});

test('the operator rotates the signing keys, and removes one', async () => {
  const keysOf = async () => (await read<Schemas['SigningKeyList']>('/api/v2/admin/signing-keys')).data;
  const before = await keysOf();
  await open('/signing-keys');
  await page.getByRole('button', { name: 'Rotate now' }).click();
  await dialogOf(page).getByRole('button', { name: 'Rotate' }).click();
  await page.getByText('New keys are published.').waitFor();
  const fresh = (await keysOf()).filter(({ key_id }) => !before.some((key) => key.key_id === key_id));
  expect(fresh.map(({ state }) => state)).toContain('pending');

  const { key_id: id } = fresh[0]!;
  await page.getByRole('button', { name: `Remove ${id}` }).click();
  await dialogOf(page)
    .getByLabel(/^Type /)
    .fill(id.slice(0, 8));
  await dialogOf(page).getByRole('button', { name: 'Remove key' }).click();
  await page.getByText('The key is removed.').waitFor();
  expect((await keysOf()).map(({ key_id }) => key_id)).not.toContain(id);
});

test('the audit log is filtered, linked and exported', async () => {
  const [entry] = (await read<Schemas['AuditEntryList']>('/api/v2/admin/audit-log?limit=1')).data;
  await open(`/audit-log?action=no_such.&entry=${entry!.audit_id}`);
  // An entry of a link is shown even if it does not match the filters.
  await page.getByText('Entry identifier').waitFor();
  await page.getByRole('button', { name: `Filter by ${entry!.action}` }).click();
  await gone(page.getByRole('dialog'));
  await expect.poll(() => page.url()).toContain(`action=${entry!.action}`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  const lines = readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split(/\r?\n/);
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.slice(1).every((line) => line.includes(entry!.action))).toBe(true);
  expect(faults).toEqual([]);
});
