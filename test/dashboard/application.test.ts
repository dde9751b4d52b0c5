import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type App, newApp, newDeveloper, newHwid } from '../support/fixtures.ts';
import { untilPublished } from '../support/until-published.ts';
import { startFileService } from '../operations/support/files.ts';
import { startReceiver } from '../webhooks/support/receiver.ts';
import { callWebhooks, LOOPBACK, type Schemas } from '../webhooks/support/webhooks.ts';
import { startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openSignedIn } from './support/signed-in.ts';

const KIB = 1024;

const service = await startFileService({ ...LOOPBACK, FILE_MAX_BYTES: String(64 * KIB) });
const browser = await startBrowser();
const developer = await newDeveloper(service.api);
const { page, faults } = await openSignedIn(browser, service, developer);

async function open(path: string): Promise<App> {
  const app = await newApp(service.api, developer);
  await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}${path}`);
  return app;
}

const button = (name: string) => page.getByRole('button', { name, exact: true });
const dialog = page.getByRole('dialog');

async function read<Body>(app: App, path: string): Promise<Body> {
  const { body } = await service.api.call<Body>('GET', `/api/v2/dev/apps/${app.app_id}${path}`, undefined, {
    token: developer.token,
  });
  return body;
}

/** Chromium reports the refusal of a large file on its console, too. */
const expectNoFaults = () => expect(faults.filter((fault) => !fault.includes('413'))).toEqual([]);

test('a variable is created, changed, found and deleted', async () => {
  const app = await open('/variables');
  const variables = async () => (await read<Schemas['VariableList']>(app, '/variables')).data;
  await button('Create variable').first().click();
  await page.getByLabel('Name', { exact: true }).fill('config');
  await page.getByLabel('Value', { exact: true }).fill('{"beta":true}');
  await button('Format JSON').click();
  await button('Create').click();
  await page.getByText('config created.').waitFor();
  expect(await variables()).toMatchObject([
    { name: 'config', value: '{\n  "beta": true\n}', visibility: 'session' },
  ]);

  // A new variable cannot replace one by accident.
  await button('Create variable').click();
  await page.getByLabel('Name', { exact: true }).fill('config');
  await page.getByText('A variable with this name exists.').waitFor();
  await page.getByRole('button', { name: 'Create', exact: true, disabled: true }).waitFor();
  await button('Cancel').click();

  await button('config').click();
  await button('Edit').click();
  await dialog.getByLabel('Value', { exact: true }).fill('<img src=x onerror=alert(1)>');
  await dialog.getByLabel('Readable by').selectOption('public');
  await button('Save').click();
  await page.getByText('config saved.').waitFor();
  expect(await variables()).toMatchObject([{ value: '<img src=x onerror=alert(1)>', visibility: 'public' }]);

  await button('Delete').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No variables yet').waitFor();
  expect(await variables()).toEqual([]);
  await gone(page.locator('main img'));
  expectNoFaults();
});

test('a file is uploaded, changed, downloaded, replaced and deleted', async () => {
  const app = await open('/files');
  const files = async () => (await read<Schemas['HostedFileList']>(app, '/files')).data;
  const choose = (content: string, name = 'setup.exe') =>
    page
      .getByLabel('Upload a file', { exact: true })
      .and(page.locator('input'))
      .setInputFiles({
        name,
        mimeType: 'application/octet-stream',
        buffer: Buffer.from(content),
      });
  await choose('first');
  await page.getByLabel('Version (optional)').fill('1.0.0');
  await button('Upload').click();
  await page.getByText('setup.exe uploaded.').waitFor();
  expect(await files()).toMatchObject([
    { name: 'setup.exe', version: '1.0.0', size: 5, authenticated_only: true },
  ]);

  // Dropped anywhere on the page, and with a name that is in use.
  await page.evaluate(`(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['second'], 'setup.exe'));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  })()`);
  await page.getByText('This replaces the content from').waitFor();
  await button('Replace').click();
  await expect.poll(async () => (await files())[0]).toMatchObject({ version: '1.0.0', size: 6 });

  await button('setup.exe').click();
  const [download] = await Promise.all([page.waitForEvent('download'), button('Download').click()]);
  expect(readFileSync(await download.path(), 'utf8')).toBe('second');
  expect(download.suggestedFilename()).toBe('setup.exe');
  await dialog.getByLabel('Access').selectOption('public');
  await button('Save').click();
  await expect.poll(async () => (await files())[0]).toMatchObject({ authenticated_only: false });

  await button('Delete').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No files yet').waitFor();
  expect(await files()).toEqual([]);
  expectNoFaults();
});

test('a file that is too large is refused with the reason, and an upload can be canceled', async () => {
  const app = await open('/files');
  const files = async () => (await read<Schemas['HostedFileList']>(app, '/files')).data;
  const upload = async (name: string, bytes: number) => {
    await page
      .getByLabel('Upload a file', { exact: true })
      .and(page.locator('input'))
      .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.alloc(bytes) });
    await button('Upload').click();
  };
  await upload('large.bin', 65 * KIB);
  await page.getByText('PAYLOAD_TOO_LARGE').waitFor();
  await button('Cancel').click();

  await page.route('**/files/slow.bin*', () => undefined);
  await upload('slow.bin', 10);
  await page.getByRole('progressbar').waitFor();
  await page.keyboard.press('Escape');
  await button('Cancel the upload').click();
  await page.getByText('Upload canceled. Nothing has changed.').waitFor();
  await page.unroute('**/files/slow.bin*');
  expect(await files()).toEqual([]);
  expectNoFaults();
});

test('an endpoint is added, tested, disabled, enabled, and its events are replayed', async () => {
  const receiver = await startReceiver();
  const app = await open('/webhooks');
  await button('Add endpoint').first().click();
  await page.getByLabel('URL', { exact: true }).fill(receiver.url);
  await page.getByLabel('Description (optional)').fill('Bot');
  await page.getByLabel('Events').selectOption('some');
  await page.getByRole('button', { name: 'Create', exact: true, disabled: true }).waitFor();
  await page.getByLabel('All variable events').check();
  await page.getByText('2 event types chosen').waitFor();
  await button('Create').click();
  await page.getByText(/^whsec_/).waitFor();
  await button('Done').click();

  await page.getByRole('heading', { name: 'Bot' }).waitFor();
  await button('Send test').click();
  await dialog.getByText('1. HTTP 204').waitFor();
  expect(receiver.received.map(({ message }) => message.type)).toEqual(['webhook.test']);
  await button('Close').click();

  const { data } = await read<Schemas['WebhookList']>(app, '/webhooks');
  expect(data).toMatchObject([
    { url: receiver.url, types: ['variable.set', 'variable.deleted'], description: 'Bot' },
  ]);
  await button('More actions').click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click();
  await page.getByText('This endpoint is disabled.').waitFor();
  await service.api.call(
    'PUT',
    `/api/v2/dev/apps/${app.app_id}/variables/missed`,
    { value: '1', visibility: 'public' },
    { token: developer.token },
  );
  // Only published events are sent again.
  await untilPublished(service);
  service.clock.advance(60_000);
  await page.clock.setFixedTime(service.clock.now());
  await button('Enable').click();
  // The dialog offers the events since the endpoint was disabled.
  await page.getByLabel('From').waitFor();
  await button('Replay').click();
  await page.getByText('1 event on the way.').waitFor();
  await expect.poll(() => receiver.ids('variable.set')).toHaveLength(1);
  await button('Refresh').click();
  await page.getByRole('button', { name: 'variable.set' }).click();
  await button('Send again').click();
  await expect.poll(() => receiver.ids('variable.set')).toHaveLength(2);
  expect(new Set(receiver.ids('variable.set')).size).toBe(1);
  expectNoFaults();
});

test('the secret of an endpoint is rotated with a countdown, and the endpoint deleted', async () => {
  const app = await newApp(service.api, developer);
  const { body } = await callWebhooks<Schemas['CreateWebhookResult']>(service.api, app, 'POST', [], {
    url: 'https://bot.invalid/',
    types: ['*'],
  });
  await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}/webhooks/${body.webhook_id}`);
  await button('More actions').click();
  await page.getByRole('menuitem', { name: 'Rotate the secret' }).click();
  await page.getByLabel('The previous secret').selectOption('3600');
  await button('Rotate').click();
  const secret = await page.getByText(/^whsec_/).textContent();
  expect(secret).not.toBe(body.secret);
  await button('Done').click();
  await page.getByText('The previous secret also signs for 01:00:00').waitFor();

  await button('More actions').click();
  await page.getByRole('menuitem', { name: 'Delete the endpoint' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No endpoints yet').waitFor();
  expect((await read<Schemas['WebhookList']>(app, '/webhooks')).data).toEqual([]);
});

test('the machine of a user is reset, and the timeline follows', async () => {
  const app = await newApp(service.api, developer);
  const user = { username: 'ada', password: 'a user password', hwid: newHwid() };
  await service.api.register(app.with(user));
  const { data } = await read<Schemas['UserList']>(app, '/users');
  await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}/users/${data[0]!.user_id}?tab=machine`);
  await button('Reset').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Reset' }).click();
  await page.getByText('Not bound').waitFor();
  expect((await read<Schemas['UserList']>(app, '/users')).data[0]!.hwid_bound).toBe(false);
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByRole('button', { name: 'user.hwid_reset' }).click();
  await dialog.getByText('Identifier').waitFor();
  expectNoFaults();
});

test('the statistics of a week have hours, license counts and expirations', async () => {
  const app = await newApp(service.api, developer);
  await app.patch({ tiers: ['Standard'] });
  const [key] = await app.keys(3, 'Standard', 7);
  const user = { username: 'ada', password: 'a user password', hwid: newHwid() };
  await service.api.register(app.with(user));
  await service.api.activate(app.with({ username: 'ada', license_key: key! }));
  await service.api.login(app.with(user));
  await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}?days=30`);
  await page.getByLabel('Period').selectOption('7');
  await page.getByLabel('Resolution').selectOption('hour');
  const hours = page.getByRole('figure', { name: 'Logins by hour' });
  await hours.getByText('1 login', { exact: true }).waitFor();
  await expect.poll(() => hours.getByRole('row').count()).toBeGreaterThan(6 * 24);
  const counts = page.getByRole('group', { name: 'License keys by tier and status' });
  await expect.poll(() => counts.getByRole('row', { name: 'Standard' }).textContent()).toBe('Standard21003');
  await page.getByLabel('Period').selectOption('30');
  const ends = page.getByRole('figure', { name: 'Expirations of the next 30 days' });
  await ends.getByText('1 subscription', { exact: true }).waitFor();
  expectNoFaults();
});

test('a form follows what others save, and saves only what was changed in it', async () => {
  const app = await open('/settings');
  const version = page.getByLabel('Minimum version');
  await version.waitFor();
  const path = `/api/v2/dev/apps/${app.app_id}`;
  const changes = { minimum_version: '2.0.0', tiers: ['Basic', 'Pro', 'Team'] };
  await service.api.call('PATCH', path, changes, { token: developer.token });
  await page.getByLabel('Name', { exact: true }).fill('Renamed');
  // Each switch takes effect at once, and its response has the whole application.
  await page.getByLabel('Bind users to one machine').click();
  await expect.poll(() => version.inputValue()).toBe('2.0.0');
  await expect.poll(() => page.getByLabel('Tier 3').inputValue()).toBe('Team');
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Renamed');
  await button('Save').first().click();
  await page.getByText('Settings saved.').waitFor();
  expect(await read<Schemas['ApplicationResult']>(app, '')).toMatchObject({ name: 'Renamed', ...changes });
  // Nothing is left to save.
  await button('Save').first().waitFor();
  await gone(page.getByRole('button', { name: 'Save', exact: true, disabled: false }));
  expectNoFaults();
});
