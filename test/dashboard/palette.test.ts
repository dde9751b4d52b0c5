import { expect, test } from 'vitest';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openSignedIn } from './support/signed-in.ts';

const service = await startTestService();
const browser = await startBrowser();
const developer = await newDeveloper(service.api);
const { token } = developer;
const first = await newApp(service.api, developer);
await first.patch({ name: 'Aurora Editor' });
const second = await newApp(service.api, developer);
await second.patch({ name: 'Pixel Forge' });
const path = `/api/v2/dev/apps/${first.app_id}`;
await service.api.call(
  'PUT',
  `${path}/variables/motd`,
  { value: 'Welcome', visibility: 'session' },
  { token },
);
await service.api.post(
  `${path}/webhooks`,
  { url: 'https://bot.invalid/', types: ['user.banned'], description: 'Discord bot' },
  { token },
);
await service.api.post(
  '/api/v2/dev/resellers',
  { name: 'Keys & More', currency: 'EUR', commission_margin: 5 },
  { token },
);
const { page, faults } = await openSignedIn(browser, service, developer);

/** Chooses the entry of the palette with this name, found by a text. */
async function choose(text: string, name: RegExp): Promise<void> {
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Go to' });
  await field.fill(text);
  await page.getByRole('option', { name }).click();
  await gone(field);
}

const heading = (name: string) => page.getByRole('heading', { name }).waitFor();

/** The palette opens only when no dialog is left. */
async function leave(): Promise<void> {
  await page.keyboard.press('Escape');
  await gone(page.getByRole('dialog'));
}

test('the pages of the newest application, and later of the last one, are in the sidebar from the start', async () => {
  const switcher = page.getByRole('button', { name: 'Switch the application' });
  await expect.poll(() => switcher.textContent()).toContain('Pixel Forge');
  await page.goto(`${service.baseUrl}/dashboard/apps/${first.app_id}/settings`);
  await heading('Settings');
  await page.goto(`${service.baseUrl}/dashboard/plan`);
  await expect.poll(() => switcher.textContent()).toContain('Aurora Editor');
  await page.getByRole('navigation', { name: 'Application' }).getByRole('link', { name: 'Licenses' }).click();
  await page.waitForURL(`**/apps/${first.app_id}/licenses`);
});

test('the palette opens what is found by its name', async () => {
  await choose('motd', /motd Variable/);
  await page.getByRole('dialog').getByText('Welcome').waitFor();
  await leave();
  await choose('discord', /Discord bot Webhook/);
  await heading('Discord bot');
  await choose('more', /Keys & More Reseller/);
  await heading('Keys & More');
  await choose('clients', /OAuth clients/);
  await page.getByRole('tab', { name: 'OAuth clients', selected: true }).waitFor();
});

test('the palette begins actions', async () => {
  await choose('create app', /Create application/);
  await page.getByRole('dialog', { name: 'Create an application' }).waitFor();
  await leave();
  await choose('keys', /Create keys/);
  await page.getByLabel('Number of keys').waitFor();
  await leave();
  await choose('add user', /Add user/);
  await page.getByRole('dialog', { name: 'Add a user' }).waitFor();
  await leave();
  await choose('rotate', /Rotate the secret/);
  await heading('Settings');
  await page.getByText(first.app_id).first().waitFor();
  await choose('curl', /Show as curl/);
  await page.getByText('YOUR_API_TOKEN').first().waitFor();
  await leave();
  await choose('dark', /Colors: dark/);
  await expect.poll(() => page.evaluate('document.documentElement.dataset.scheme')).toBe('dark');
});

test('the palette opens the API reference in a tab of its own', async () => {
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    choose('reference', /API reference/),
  ]);
  await expect.poll(() => new URL(opened.url()).pathname).toBe('/docs');
  await opened.close();
});

test('rarer filters of users open on demand, and their number is on the button', async () => {
  await page.goto(`${service.baseUrl}/dashboard/apps/${first.app_id}/users`);
  await page.getByText('No users yet').waitFor();
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Ban', { exact: true }).selectOption('true');
  await page.getByLabel('Created since').fill('2026-01-31');
  await page.getByRole('button', { name: 'More filters 2 active' }).click();
  await gone(page.getByLabel('Created since'));
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByText('No users yet').waitFor();
});

test('the palette signs out', async () => {
  await choose('sign out', /Sign out/);
  await heading('Sign in to the dashboard');
  expect(faults).toEqual([]);
});
