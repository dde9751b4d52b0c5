import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type App, newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openSignedIn } from './support/signed-in.ts';

const service = await startTestService();
const browser = await startBrowser();
const developer = await newDeveloper(service.api);
const { page, faults } = await openSignedIn(browser, service, developer);

/** A new application whose licenses are on the page. */
async function openLicenses(keys: Readonly<Record<string, number>>, shows: string): Promise<App> {
  const app = await newApp(service.api, developer);
  await app.patch({ tiers: ['Standard', 'Pro'] });
  for (const [tier, amount] of Object.entries(keys)) await app.keys(amount, tier);
  await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}/licenses`);
  await page.getByText(shows, { exact: true }).waitFor();
  return app;
}

const listed = async (app: App, query: string) => {
  const path = `/api/v2/dev/apps/${app.app_id}/licenses?limit=100&${query}`;
  const { body } = await service.api.call<{ data: { license_id: string; license_key: string }[] }>(
    'GET',
    path,
    undefined,
    { token: developer.token },
  );
  return body.data;
};

/** The text of a file that a click saves. */
async function savedBy(click: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

const dialog = (of: Page = page) => of.getByRole('alertdialog');

test('a bulk action says first what changes, and then what stayed as it was, and why', async () => {
  const app = await openLicenses({ Standard: 3 }, '3 licenses');
  const [banned] = await listed(app, '');
  await service.api.post(
    `/api/v2/dev/apps/${app.app_id}/licenses/${banned!.license_id}/ban`,
    {},
    { token: developer.token },
  );
  await page.getByLabel('Select all loaded licenses').check();
  await page.getByRole('button', { name: 'Ban', exact: true }).click();
  await dialog().getByText('2 licenses will change. 1 stays as it is.').waitFor();
  await dialog().getByLabel('Reason').fill('Charged back');
  expect(await listed(app, 'status=banned')).toHaveLength(1);

  await dialog().getByRole('button', { name: 'Ban', exact: true }).click();
  await dialog().getByText('2 of 3 licenses changed, done').waitFor();
  const failures = dialog().getByRole('region', { name: 'Not changed' });
  await failures.getByText('LICENSE_STATE_CONFLICT').waitFor();
  await failures.getByText(banned!.license_key).waitFor();
  await expect.poll(() => failures.innerText()).toMatch(/req_[\w-]{22}/);
  expect(await listed(app, 'status=banned')).toHaveLength(3);
  await dialog().getByRole('button', { name: 'Done' }).click();
  await gone(page.getByText('3 selected'));
});

test('everything that is listed is deleted after it was typed, and nothing else', async () => {
  const app = await openLicenses({ Standard: 150, Pro: 2 }, '100+ licenses');
  await page.getByLabel('Tier').selectOption('Standard');
  // The newest two are Pro, and the number of those that are shown stays the same.
  await gone(page.locator('tbody tr[aria-rowindex]', { hasText: 'Pro' }));
  await page.getByText('100+ licenses').waitFor();
  await page.getByLabel('Select all loaded licenses').check();
  await page.getByText('100 selected').waitFor();
  await page.getByRole('button', { name: 'Select all listed licenses' }).click();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await dialog().getByText('150 licenses will change.').waitFor();
  const remove = dialog().getByRole('button', { name: 'Delete', exact: true });
  await remove.and(page.locator(':disabled')).waitFor();
  await dialog().getByLabel('Type delete to confirm').fill('delete');
  await remove.click();
  await dialog().getByText('150 of 150 licenses changed, done').waitFor();
  await dialog().getByRole('button', { name: 'Done' }).click();
  await page.getByText('No license matches').waitFor();
  expect(await listed(app, '')).toHaveLength(2);
});

test('a bulk action that is canceled stops after its step', async () => {
  const app = await openLicenses({ Standard: 150 }, '100+ licenses');
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await page.getByText('150 licenses', { exact: true }).waitFor();
  await page.getByLabel('Select all loaded licenses').check();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await dialog().getByText('150 licenses will change.').waitFor();

  let steps = 0;
  await page.route('**/licenses/pause', async (route) => {
    steps += 1;
    if (steps === 1) await dialog().getByRole('button', { name: 'Cancel' }).click();
    await route.continue();
  });
  await dialog().getByRole('button', { name: 'Pause', exact: true }).click();
  await dialog().getByText(', canceled').waitFor();
  await page.unroute('**/licenses/pause');
  await dialog().getByRole('button', { name: 'Done' }).click();
  expect(steps).toBe(1);
  expect((await listed(app, 'status=unused')).length).toBeGreaterThanOrEqual(50);
});

test('10,000 keys are created and saved as CSV', async () => {
  await openLicenses({}, 'No license keys yet');
  await page.getByRole('button', { name: 'Create keys' }).first().click();
  await page.getByLabel('Number of keys').fill('10000');
  await page.getByRole('dialog').getByRole('button', { name: 'Create keys' }).click();
  await page.getByText('10,000 keys created.').waitFor();
  const { text } = await savedBy(() => page.getByRole('button', { name: 'Save as CSV' }).click());
  const lines = text.trimEnd().split('\r\n');
  expect(lines).toHaveLength(10_001);
  expect(new Set(lines).size).toBe(10_001);
  await page.getByRole('button', { name: 'Done' }).click();
});

test('an export has what the list shows, and another application can import it', async () => {
  await openLicenses({ Standard: 3, Pro: 2 }, '5 licenses');
  await page.getByLabel('Tier').selectOption('Pro');
  await page.getByText('2 licenses', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Import and export' }).click();
  const { name, text } = await savedBy(() =>
    page.getByRole('menuitem', { name: 'Export the list as CSV' }).click(),
  );
  expect(name).toMatch(/\.csv$/);
  expect(text.trimEnd().split(/\r?\n/)).toHaveLength(3);

  const other = await openLicenses({}, 'No license keys yet');
  const importing = async (csv: string) => {
    await page.getByLabel('File').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
  };
  await page.getByRole('button', { name: 'Import and export' }).click();
  await page.getByRole('menuitem', { name: 'Import keys' }).click();
  await importing(text.replace(',Pro,', ',Unknown,'));
  await page.getByRole('dialog').getByText('/line/2').waitFor();
  expect(await listed(other, '')).toHaveLength(0);
  await importing(text);
  await page.getByText('2 licenses imported.').waitFor();
  await page.getByText('2 licenses', { exact: true }).waitFor();
  expect(await listed(other, 'tier=Pro')).toHaveLength(2);
  expect(faults.filter((fault) => !fault.includes('400 (Bad Request)'))).toEqual([]);
});

test('machines of several users are reset, one by one', async () => {
  const app = await newApp(service.api, developer);
  for (const username of ['ada', 'grace']) {
    const path = `/api/v2/dev/apps/${app.app_id}/users`;
    await service.api.post(path, { username }, { token: developer.token });
  }
  await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}/users`);
  await page.getByLabel('Select ada').check();
  await page.getByLabel('Select grace').check();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Reset machine' }).click();
  await dialog().getByRole('button', { name: 'Reset machine' }).click();
  await dialog().getByText('2 of 2 users changed, done').waitFor();
});
