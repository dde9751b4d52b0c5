import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../generated/types.ts';
import { CARDS, openCheckout, paid, sellPlan, subscribed } from '../support/billing.ts';
import { newApp, newDeveloper, type Developer } from '../support/fixtures.ts';
import { authorize, newClient } from '../support/oauth.ts';
import { startTestService } from '../support/service.ts';
import { newReseller } from '../operations/support/resellers.ts';
import { type Watched, startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openSignedIn } from './support/signed-in.ts';

type Schemas = components['schemas'];

const service = await startTestService();
const { api, clock } = service;
const browser = await startBrowser();

/** Many steps in a browser take long on a busy machine. */
const LONG = { timeout: 90_000 };

/** What an operation returns to a token. */
async function read<Body extends object>(path: string, token: string): Promise<Body & { code?: string }> {
  return (await api.call<Body & { code?: string }>('GET', path, undefined, { token })).body;
}

/** A developer who is signed in, and what tests do on the page. */
async function signedIn(developer: Developer) {
  const watched: Watched = await openSignedIn(browser, service, developer);
  const { page } = watched;
  const dialog = () => page.getByRole('dialog').or(page.getByRole('alertdialog')).last();
  return {
    ...watched,
    dialog,
    open: (path: string) => page.goto(`${service.baseUrl}/dashboard${path}`),
    click: (name: string) => page.getByRole('button', { name, exact: true }).first().click(),
    /** Clicks a button of the dialog that is open. */
    choose: (name: string) => dialog().getByRole('button', { name, exact: true }).click(),
    fill: (label: string, text: string) => dialog().getByLabel(label, { exact: true }).fill(text),
    /** The secret that is shown once. */
    async secret(): Promise<string> {
      await dialog().getByText('now. The service keeps only').waitFor();
      const text = (await dialog().locator('code').first().textContent())!;
      await dialog().getByRole('button', { name: 'Done' }).click();
      await gone(page.getByRole('alertdialog'));
      return text;
    },
    says: (text: string | RegExp) => page.getByText(text).first().waitFor(),
  };
}

test('a reseller is created, priced and credited, and buys with the new token', LONG, async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const on = await signedIn(developer);
  await on.open('/resellers');
  await on.says('No resellers yet');
  await on.click('Create reseller');
  await on.fill('Name', 'Keys & More');
  await on.fill('Commission in percent', '12.5');
  await on.choose('Create reseller');
  await on.page.getByRole('heading', { name: 'Keys & More' }).waitFor();

  await on.click('Add a price');
  await on.page.getByLabel('Price 1 in USD').fill('9.99');
  await on.says('$8.75');
  await on.click('Save prices');
  await on.says('Prices saved.');
  await on.click('Credit');
  await on.fill('Amount in USD', '100');
  await on.fill('Reason (optional)', 'Bank transfer');
  await on.choose('Credit');
  await on.says('The balance is now $100.00.');

  await on.page.getByRole('tab', { name: 'Tokens' }).click();
  await on.click('Create token');
  await on.fill('Name', 'Shop');
  await on.choose('Create token');
  await on.dialog().getByText('/dashboard/reseller').waitFor();
  const token = await on.secret();
  const order = { app_id: app.app_id, tier: 'Standard', duration_days: 30, amount: 2 };
  expect((await api.post('/api/v2/dev/reseller/licenses', order, { token })).status).toBe(201);
  const reseller = await read<Schemas['OwnResellerResult']>('/api/v2/dev/reseller', token);
  expect(reseller.balance).toBe(82.5);

  await on.page.getByRole('tab', { name: 'Ledger' }).click();
  await on.page.reload();
  await on.says('2 keys, Standard, 30 days');
  expect(on.faults).toEqual([]);
});

test('a reseller is suspended, and deleted after the balance is taken back', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await app.patch({ tiers: ['Pro'] });
  const { reseller_id, buy } = await newReseller(api, app, { balance: 82.5 });
  const on = await signedIn(developer);
  await on.open(`/resellers/${reseller_id}`);
  await on.click('More actions');
  await on.page.getByRole('menuitem', { name: 'Suspend the reseller' }).click();
  await on.choose('Suspend');
  await on.says('Reseller suspended.');
  expect((await buy()).body.code).toBe('RESELLER_SUSPENDED');

  await on.click('More actions');
  await on.page.getByRole('menuitem', { name: 'Delete the reseller' }).click();
  await on.choose('Delete');
  await on.dialog().getByText('RESELLER_HAS_BALANCE').waitFor();
  await on.choose('Cancel');
  await on.click('Debit');
  await on.fill('Amount in USD', '82.5');
  await on.choose('Debit');
  await on.says('The balance is now $0.00.');
  await on.click('More actions');
  await on.page.getByRole('menuitem', { name: 'Delete the reseller' }).click();
  await on.choose('Delete');
  await on.says('No resellers yet');
  expect((await buy()).status).toBe(401);
  expect(on.faults.filter((fault) => !fault.includes('409'))).toEqual([]);
});

describe('access', () => {
  let developer: Developer;
  let on: Awaited<ReturnType<typeof signedIn>>;
  beforeAll(async () => {
    developer = await newDeveloper(api);
    on = await signedIn(developer);
  });
  const statusOf = async (token: string) =>
    (await api.call('GET', '/api/v2/dev/me', undefined, { token })).status;

  test('an API token works until it is revoked', async () => {
    await on.open('/access');
    await on.click('Create token');
    await on.fill('Name', 'Discord bot');
    await on.choose('Create token');
    const token = await on.secret();
    const me = await read<Schemas['DeveloperResult']>('/api/v2/dev/me', token);
    expect([me.actor.kind, me.scopes]).toEqual(['api_token', ['read']]);
    const { data } = await read<Schemas['ApiTokenList']>('/api/v2/dev/tokens', developer.token);
    expect(data[0]!.expires_at).toBe(new Date(clock.now().getTime() + 90 * 86_400_000).toISOString());
    await on.click('Revoke Discord bot');
    await on.choose('Revoke');
    await on.says('No API tokens');
    expect(await statusOf(token)).toBe(401);
  });

  test('an OAuth client is registered, changed, gets another secret, and is deleted', async () => {
    await on.open('/access?tab=clients');
    await on.click('Register client');
    await on.fill('Name', 'License desk');
    await on.fill('Redirect URIs', 'http://example.com/callback');
    await on.choose('Register client');
    await on.dialog().getByText('must only have http addresses of this machine').first().waitFor();
    await on.fill('Redirect URIs', 'https://desk.example/callback\nhttp://127.0.0.1/callback');
    await on.choose('Register client');
    const first = await on.secret();
    await on.click('License desk');
    await on.fill('Name', 'License office');
    await on.choose('Save');
    await on.says('Client saved.');
    await on.choose('Rotate the secret');
    await on.choose('Rotate');
    expect(await on.secret()).not.toBe(first);
    const list = () => read<Schemas['OAuthClientList']>('/api/v2/dev/oauth-clients', developer.token);
    expect((await list()).data[0]).toMatchObject({
      name: 'License office',
      redirect_uris: ['https://desk.example/callback', 'http://127.0.0.1/callback'],
    });
    await on.choose('Delete the client');
    await on.choose('Delete');
    await on.says('No OAuth clients');
    expect((await list()).data).toEqual([]);
  });

  test('an authorization is revoked, and an agent with all the others', async () => {
    const client = await newClient(api, developer, { name: 'Editor' });
    const { redeem } = await authorize(service.baseUrl, developer, client);
    const { access_token: access } = await redeem();
    expect(await statusOf(access)).toBe(200);
    await on.open('/access?tab=authorizations');
    await on.click('Revoke Editor');
    await on.choose('Revoke');
    await on.says('No authorizations');
    expect(await statusOf(access)).toBe(401);

    await on.page.getByRole('tab', { name: 'Agents' }).click();
    await on.click('Create agent');
    await on.fill('Name', 'Release bot');
    await on.choose('Create agent');
    const credential = await on.secret();
    expect(await statusOf(credential)).toBe(200);
    await on.click('Release bot');
    await on.dialog().getByText('agent:execute').waitFor();
    await on.choose('Close');
    await on.click('Revoke all');
    await on.fill('Type revoke to confirm', 'revoke');
    await on.choose('Revoke all');
    await on.says('1 agent revoked.');
    expect(await statusOf(credential)).toBe(401);
  });

  test('other sessions end, alone and by a new password', async () => {
    const login = async (password: string) =>
      (
        await api.post<Schemas['DeveloperSessionResult']>('/api/v2/dev/login', {
          email: developer.email,
          password,
        })
      ).body.token;
    const others = [developer.token, await login(developer.password)];
    await on.open('/access?tab=sign-in');
    await on.says('this one');
    await on.click('End all others');
    await on.choose('End all others');
    await on.says(/\d sessions? ended\./);
    for (const token of others) expect(await statusOf(token)).toBe(401);

    const other = await login(developer.password);
    await on.page.getByLabel('Current password').fill('a wrong password');
    await on.page.getByLabel('New password').fill('another developer password');
    await on.click('Change password');
    await on.says('INVALID_CREDENTIALS');
    await on.page.getByLabel('Current password').fill(developer.password);
    await on.click('Change password');
    await on.says('Password changed.');
    expect(await statusOf(other)).toBe(401);
    expect(await statusOf(await login('another developer password'))).toBe(200);
    expect(on.faults.filter((fault) => !/status of 40[03]/.test(fault))).toEqual([]);
  });
});

test('the audit log: filters in the address, an entry with its target, and exports of what is shown', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await app.patch({ name: 'Aurora' });
  const on = await signedIn(developer);
  await on.open('/audit-log');
  await on.page.getByLabel('Start of an action').fill('application.');
  await on.says('2 entries');
  await expect.poll(() => on.page.url()).toContain('application.');
  const [download] = await Promise.all([
    on.page.waitForEvent('download'),
    (async () => {
      await on.click('Export NDJSON');
    })(),
  ]);
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toEqual([
    'application.updated',
    'application.created',
  ]);
  await on.click('application.updated');
  await on.page.waitForURL((url) => url.searchParams.has('entry'));
  const link = on.page.url();
  await on.open('/');
  await on.page.goto(link);
  await on.dialog().getByText('"Aurora"').waitFor();
  await on.dialog().getByRole('button', { name: 'Filter by application.updated' }).click();
  await on.says('1 entry');
  expect(on.faults).toEqual([]);
});

describe('the plan', () => {
  test('is bought on the payment page, changed, canceled and continued', LONG, async () => {
    const developer = await newDeveloper(api);
    const pro = await sellPlan(api, { max_apps: 100 });
    const studio = await sellPlan(api, { name: 'Studio', price: 49 });
    const on = await signedIn(developer);
    const subscription = () =>
      read<Schemas['PlanSubscriptionResult']>('/api/v2/dev/subscription', developer.token);
    await on.open('/plan');
    await on.says('You do not pay for this plan.');
    await on.click(`Choose ${pro.name}`);
    await on.page.locator('[name=number]').fill(CARDS.pays);
    await on.page.locator('[name=name]').fill('Ada Lovelace');
    await on.page.locator('[name=expiry]').fill('12 / 30');
    await on.page.locator('[name=cvc]').fill('123');
    await on.page.locator('form button[type=submit]').first().click();
    await on.page.getByRole('link', { name: 'Continue to' }).click();
    await on.says('The payment was confirmed');
    await expect.poll(() => new URL(on.page.url()).searchParams.get('checkout')).toMatch(/^chk_/);
    await on.page.getByRole('heading', { name: `${pro.name} plan` }).waitFor();
    expect((await subscription()).plan_id).toBe(pro.plan_id);

    await on.click(`Switch to ${studio.name}`);
    await on.choose('Switch');
    await on.page.getByRole('heading', { name: 'Studio plan' }).waitFor();
    expect((await subscription()).plan_id).toBe(studio.plan_id);
    await on.click('Cancel the subscription');
    await on.choose('Cancel the subscription');
    await on.says('The plan ends on');
    expect((await subscription()).cancel_at_period_end).toBe(true);
    await on.click('Continue the subscription');
    await on.says('Your subscription continues.');
    expect((await subscription()).cancel_at_period_end).toBe(false);
    await on.page.getByRole('tab', { name: 'Invoices' }).click();
    await on.says('IN-0');
    expect(on.faults).toEqual([]);
  });

  test('a pack of balance reaches the reseller that was chosen, and a failed renewal is explained', async () => {
    const developer = await newDeveloper(api);
    const reseller = { name: 'Pixel Market', currency: 'USD' };
    await api.post('/api/v2/dev/resellers', reseller, developer);
    await sellPlan(api, {
      name: 'Balance of 50',
      kind: 'reseller_balance',
      period: 'lifetime',
      balance: 50,
      price: 45,
      max_apps: 0,
      max_users_per_app: 0,
    });
    const opened = await openCheckout(api, developer, await sellPlan(api, { name: 'Recurring' }));
    const at = (days: number) => new Date(clock.now().getTime() + days * 86_400_000);
    const settle = service.services.settlement.settle;
    await settle([paid(opened), subscribed(opened, clock.now(), at(30))], '127.0.0.1');
    await settle([subscribed(opened, at(30), at(60), { state: 'past_due' })], '127.0.0.1');
    const on = await signedIn(developer);
    await on.open('/plan');
    await on.says('The payment for the next period failed.');
    await on.page.getByRole('tab', { name: 'Packs' }).click();
    await on.click('Buy Balance of 50');
    await on.dialog().getByLabel('Reseller').waitFor();
    await on.choose('Go to payment');
    await on.page.locator('[name=number]').waitFor();
    // The way back without paying.
    await on.open('/plan?checkout=newest');
    await on.says('not paid yet');
    await on.page.getByRole('link', { name: 'Go to payment' }).waitFor();
    expect(on.faults).toEqual([]);
  });
});
