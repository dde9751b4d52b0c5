import { clientCredentialsGrant, refreshTokenGrant, tokenIntrospection } from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { newBrowserSession, signIn } from '../../support/browser-session.ts';
import { follow } from '../../support/event-stream.ts';
import {
  newApp,
  newDeveloper,
  newSession,
  newUser,
  type App,
  type Developer,
} from '../../support/fixtures.ts';
import { authorize, beginAuthorization, Browser, consent, discover, newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { untilPublished } from '../../support/until-published.ts';
import { startReceiver } from '../../webhooks/support/receiver.ts';
import { listDeliveries, LOOPBACK, newWebhook } from '../../webhooks/support/webhooks.ts';
import { reinstate, suspend } from '../support/developer-accounts.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { newReseller } from '../support/resellers.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

type Schemas = components['schemas'];

const service = await startTestService(LOOPBACK, { heartbeatTickMs: 100 });
const { api, databaseUrl } = service;
// Another node, which learns of a suspension only from the database.
const { api: other } = await startTestService({ ...LOOPBACK, DATABASE_URL: databaseUrl });

const me = (token: string, node = api) => node.call('GET', '/api/v2/dev/me', undefined, { token });

describe('every kind of credential is refused on every node', () => {
  let developer: Developer;
  const requests: Record<string, (node: typeof api) => Promise<Parameters<typeof expectError>[0]>> = {};

  beforeAll(async () => {
    developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const apiToken = await newApiToken(api, developer, ['read', 'auth:dev']);
    const reseller = await newReseller(api, app);
    const client = await newClient(api, developer);
    const tokens = await (await authorize(api.baseUrl, developer, client)).redeem();
    const made = await api.post<{ credential: string }>(
      '/api/v2/dev/agents',
      { name: 'Build', scopes: ['read', 'agent:execute'] },
      developer,
    );
    const browser = await newBrowserSession(api, developer);
    const shop = await newBrowserSession(api, { token: reseller.token });
    Object.assign(requests, {
      session: (node: typeof api) => me(developer.token, node),
      'API token': (node: typeof api) => me(apiToken.token, node),
      'token of a reseller': (node: typeof api) =>
        node.call('GET', '/api/v2/dev/reseller', undefined, { token: reseller.token }),
      // Its audience is the address of one node.
      'token of an OAuth client': () => me(tokens.access_token),
      'agent at operations of developers': (node: typeof api) => me(made.body.credential, node),
      'agent at its own operations': (node: typeof api) =>
        node.call('GET', '/api/v1/agent/token', undefined, { token: made.body.credential }),
      'session of a browser': (node: typeof api) => node.call('GET', '/api/v2/dev/me', undefined, browser),
      "session of a reseller's browser": (node: typeof api) =>
        node.call('GET', '/api/v2/dev/reseller', undefined, shop),
    });
  });

  const kinds = [
    'session',
    'API token',
    'token of a reseller',
    'token of an OAuth client',
    'agent at operations of developers',
    'agent at its own operations',
    'session of a browser',
    "session of a reseller's browser",
  ];

  test('and accepted again after the suspension', async () => {
    for (const kind of kinds) expect([kind, (await requests[kind]!(other)).status]).toEqual([kind, 200]);
    await suspend(api, developer.developerId);
    for (const kind of kinds) {
      for (const node of [api, other]) expectError(await requests[kind]!(node), 403, 'ACCOUNT_SUSPENDED');
    }
    await reinstate(other, developer.developerId);
    for (const kind of kinds) expect([kind, (await requests[kind]!(api)).status]).toEqual([kind, 200]);
  });
});

describe('signing in', () => {
  test('says so only with the right password', async () => {
    const developer = await newDeveloper(api);
    await suspend(api, developer.developerId);
    const login = (password: string) => api.post('/api/v2/dev/login', { email: developer.email, password });
    expectError(await login('a wrong password'), 401, 'INVALID_CREDENTIALS');
    expectError(await login(developer.password), 403, 'ACCOUNT_SUSPENDED');
    const { email, password } = developer;
    expectError(await signIn(api, { email, password }), 403, 'ACCOUNT_SUSPENDED');
    await reinstate(api, developer.developerId);
    expect((await login(developer.password)).status).toBe(200);
  });

  test('on the pages of the authorization server says so too, and signs out browsers', async () => {
    const developer = await newDeveloper(api);
    const owner = await newDeveloper(api);
    const client = await newClient(api, owner);
    const browser = new Browser(api.baseUrl);
    await authorize(api.baseUrl, developer, client, {}, browser);
    await suspend(api, developer.developerId);
    const { url } = await beginAuthorization(api.baseUrl, client);
    const signInPage = await browser.open(url);
    expect(signInPage.html).toContain('name="password"');
    const refused = await consent(browser, signInPage, developer);
    expect(refused.status).toBe(403);
    expect(refused.html).toContain('This account is suspended.');
  });
});

describe('the token endpoint issues nothing', () => {
  test('for a code, or for a refresh token, which is valid again after the suspension', async () => {
    const developer = await newDeveloper(api);
    const client = await newClient(api, await newDeveloper(api));
    const scope = { scope: 'openid email offline_access read', prompt: 'consent' };
    const { config, redeem } = await authorize(api.baseUrl, developer, client, scope);
    const { refresh_token } = await redeem();
    const { redeem: redeemCode } = await authorize(api.baseUrl, developer, client);
    await suspend(api, developer.developerId);
    const refused = { error: 'invalid_grant' };
    await expect(refreshTokenGrant(config, refresh_token!)).rejects.toMatchObject(refused);
    await expect(redeemCode()).rejects.toMatchObject(refused);
    expect(await tokenIntrospection(config, refresh_token!)).toEqual({ active: false });
    await reinstate(api, developer.developerId);
    const refreshed = await refreshTokenGrant(config, refresh_token!);
    expect(refreshed.claims()).toMatchObject({ sub: developer.developerId });
    expect((await me(refreshed.access_token)).status).toBe(200);
  });

  test('for the credentials of a client', async () => {
    const developer = await newDeveloper(api);
    const client = await newClient(api, developer, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      scopes: ['read'],
    });
    const config = await discover(api.baseUrl, client);
    await suspend(api, developer.developerId);
    await expect(clientCredentialsGrant(config)).rejects.toMatchObject({ error: 'invalid_grant' });
    await reinstate(api, developer.developerId);
    expect((await clientCredentialsGrant(config)).scope).toBe('read');
  });
});

describe('during a suspension', () => {
  test('a stream ends, and one of another developer does not', async () => {
    const [app, kept] = [await newApp(api), await newApp(api)];
    const ending = await follow(service, `/api/v2/dev/apps/${app.app_id}/events/stream`, app.token);
    const other = await follow(service, `/api/v2/dev/apps/${kept.app_id}/events/stream`, kept.token);
    await suspend(api, String((await me(app.token)).body['developer_id']));
    await expect(ending.ended).resolves.toBe('end');
    expect(other.comments()).toBeGreaterThanOrEqual(0);
    await newUser(api, kept);
    await other.next('user.created');
  });

  test('webhooks get nothing until the account is reinstated, then what was waiting', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const receiver = await startReceiver(500);
    const { webhook_id } = await newWebhook(api, app, receiver.url, ['user.created']);
    await newUser(api, app);
    const stranger = await newApp(api);
    const other = await startReceiver(500);
    const foreign = await newWebhook(api, stranger, other.url, ['user.created']);
    await newUser(api, stranger);
    // Each response must be recorded before the clock advances.
    const attempts = async () =>
      [
        ...(await listDeliveries(api, app, webhook_id)),
        ...(await listDeliveries(api, stranger, foreign.webhook_id)),
      ].map((delivery) => delivery.attempts);
    await expect.poll(attempts).toEqual([1, 1]);
    await suspend(api, developer.developerId);
    for (const each of [receiver, other]) each.respond(204);
    await newUser(api, app);
    await untilPublished(service);
    service.clock.advance(3_600_000);
    // Both are due, and the worker has seen it.
    await expect.poll(() => other.received.length).toBe(2);
    expect(receiver.received).toHaveLength(1);
    await reinstate(api, developer.developerId);
    await expect.poll(() => receiver.received.length).toBe(2);
    expect(new Set(receiver.ids()).size).toBe(1);
    expect(await listDeliveries(api, app, webhook_id)).toHaveLength(1);
  });

  test('programs of end users keep working', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const session = await newSession(api, app);
    await suspend(api, developer.developerId, { reason: 'Chargebacks' });
    expect((await api.verify({ app_id: app.app_id, token: session.token })).status).toBe(200);
    expect((await api.login(app.with(session.owner))).status).toBe(200);
  });
});

describe('with disable_applications', () => {
  let developer: Developer;
  let apps: App[];
  const statuses = async () => {
    const { knex } = service.database;
    const rows = await knex('applications').where({ developer_id: developer.developerId }).orderBy('app_id');
    return rows.map(({ status }: { status: string }) => status);
  };

  beforeAll(async () => {
    developer = await newDeveloper(api);
    apps = [await newApp(api, developer), await newApp(api, developer), await newApp(api, developer)];
    const patch = (app: App, body: object) => api.call('PATCH', `/api/v2/dev/apps/${app.app_id}`, body, app);
    await patch(apps[1]!, { status: 'paused' });
    await patch(apps[2]!, { status: 'disabled' });
  });

  test('the applications are disabled, and get their status back', async () => {
    const session = await newSession(api, apps[0]!);
    const { body } = await suspend(api, developer.developerId, { disable_applications: true });
    expect(body).toMatchObject({ applications_disabled: 2, account_status: 'suspended' });
    expect(await statuses()).toEqual(['disabled', 'disabled', 'disabled']);
    const { status } = await api.verify({ app_id: apps[0]!.app_id, token: session.token });
    expect(status).toBe(401);
    const { body: after } = await reinstate(api, developer.developerId);
    expect(after).toMatchObject({ applications_disabled: 0, account_status: 'active' });
    expect(await statuses()).toEqual(['active', 'paused', 'disabled']);
    const path = `/api/v2/dev/apps/${apps[0]!.app_id}/events?type=application.disabled,application.enabled`;
    const events = async () =>
      (await api.call<Schemas['ApplicationEventList']>('GET', path, undefined, developer)).body.data;
    await expect
      .poll(async () => (await events()).map(({ type }) => type))
      .toEqual(['application.disabled', 'application.enabled']);
  });

  test('the subscription clock of a paused application stands still throughout', async () => {
    const { knex } = service.database;
    const pause = async (): Promise<unknown> =>
      knex('applications').where({ app_id: apps[1]!.app_id }).first('paused_at', 'paused_total_ms');
    const before = await pause();
    expect(before).toMatchObject({ paused_at: expect.any(Date) as Date });
    await suspend(api, developer.developerId, { disable_applications: true });
    expect(await pause()).toEqual(before);
    service.clock.advance(3_600_000);
    await reinstate(api, developer.developerId);
    expect(await pause()).toEqual(before);
  });

  test('an application that the service disabled without its pause starts a new one', async () => {
    const { knex } = service.database;
    const row = () => knex('applications').where({ app_id: apps[1]!.app_id });
    await suspend(api, developer.developerId, { disable_applications: true });
    await row().update({ paused_at: null });
    await reinstate(api, developer.developerId);
    const found: unknown = await row().first('status', 'paused_at');
    expect(found).toMatchObject({ status: 'paused', paused_at: expect.any(Date) as Date });
  });

  test('a suspension can be extended to the applications', async () => {
    await suspend(api, developer.developerId, { reason: 'First' });
    expect(await statuses()).toEqual(['active', 'paused', 'disabled']);
    const { body } = await suspend(api, developer.developerId, {
      reason: 'First',
      disable_applications: true,
    });
    expect(body.applications_disabled).toBe(2);
    expect((await suspend(api, developer.developerId, { reason: 'Second' })).body).toMatchObject({
      suspension_reason: 'Second',
      applications_disabled: 2,
    });
    await reinstate(api, developer.developerId);
    expect(await statuses()).toEqual(['active', 'paused', 'disabled']);
  });
});

test('both audit logs have an entry, and a repetition adds none', async () => {
  const developer = await newDeveloper(api);
  await suspend(api, developer.developerId, { reason: 'Chargebacks' });
  await suspend(api, developer.developerId, { reason: 'Chargebacks' });
  await reinstate(api, developer.developerId);
  await reinstate(api, developer.developerId);
  const own = await auditLog(api, developer, '&actor_kind=administrator');
  const query = `?target=${developer.developerId}`;
  const path = `/api/v2/admin/audit-log${query}`;
  const { body } = await api.call<Schemas['AuditEntryList']>('GET', path, undefined, ADMINISTRATOR);
  for (const entries of [own, body.data]) {
    expect(entries.map(({ action, target, data }) => ({ action, target, data }))).toEqual([
      {
        action: 'developer.reinstated',
        target: developer.developerId,
        data: { applications_enabled: 0 },
      },
      {
        action: 'developer.suspended',
        target: developer.developerId,
        data: { reason: 'Chargebacks', applications_disabled: 0 },
      },
    ]);
  }
});

test('a repetition stops webhook endpoints that the suspension did not see', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { webhook_id } = await newWebhook(api, app, 'http://127.0.0.1:9999/', ['user.created']);
  const { knex } = service.database;
  const endpoint = () => knex('webhooks').where({ webhook_id });
  await suspend(api, developer.developerId);
  await endpoint().update({ suspended_at: null });
  await suspend(api, developer.developerId);
  const found: unknown = await endpoint().first('suspended_at');
  expect(found).toEqual({ suspended_at: expect.any(Date) as Date });
});

test('DEVELOPER_NOT_FOUND, VALIDATION_FAILED and UNAUTHORIZED', async () => {
  const developer = await newDeveloper(api);
  expectError(await suspend(api, 'dev_absent'), 404, 'DEVELOPER_NOT_FOUND');
  expectFaults(await suspend(api, developer.developerId, { disable_apps: true }), '/disable_apps');
  expectFaults(await suspend(api, developer.developerId, { reason: '' }), '/reason');
  const path = `/api/v2/admin/developers/${developer.developerId}/suspend`;
  expectError(await api.call('POST', path, undefined, developer), 401, 'UNAUTHORIZED');
});
