import { describe, expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { startReceiver } from '../../webhooks/support/receiver.ts';
import { expectScope } from '../../webhooks/support/foreign.ts';
import {
  callWebhooks,
  getWebhook,
  banNetwork,
  LOOPBACK,
  newWebhook,
  pathOf,
  type NewWebhook,
} from '../../webhooks/support/webhooks.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';

const { api, clock, databaseUrl } = await startTestService(LOOPBACK);
const HOOK = { url: 'https://example.com/hook?key=a%20b', types: ['user.banned'] };

const create = (app: { app_id: string; token: string }, body: unknown) =>
  callWebhooks<NewWebhook>(api, app, 'POST', [], body);

test('creates an endpoint, which is returned as sent, with its secret once', async () => {
  const app = await newApp(api);
  const { status, body } = await create(app, { ...HOOK, description: 'Discord bot 🤖' });
  expect(status).toBe(201);
  const { secret, status: _, ...webhook } = body;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const now = clock.now().toISOString();
  expect(webhook).toEqual({
    webhook_id: expect.stringMatching(/^whk_[0-9a-z]{26}$/) as string,
    ...HOOK,
    description: 'Discord bot 🤖',
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    failing_since: null,
    created_at: now,
    updated_at: now,
  });
  expect(await getWebhook(api, app, body.webhook_id)).toEqual({ status: 'success', ...webhook });
});

test('stores the secret sealed', async () => {
  const app = await newApp(api);
  const { secret, webhook_id } = (await create(app, HOOK)).body;
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ text: string }>(
    'select webhooks::text as text from webhooks where webhook_id = $1',
    [webhook_id],
  );
  const dump = rows[0]!.text;
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
  for (const form of [secret, Buffer.from(secret).toString('hex'), bytes.toString('hex')]) {
    expect(dump).not.toContain(form);
  }
});

test('is in the audit log, without the URL and the secret', async () => {
  const app = await newApp(api);
  const { webhook_id, secret } = (await create(app, HOOK)).body;
  const { body } = await api.call<{ data: object[] }>(
    'GET',
    '/api/v2/dev/audit-log?action=webhook.created',
    undefined,
    { token: app.token },
  );
  expect(body.data).toMatchObject([{ target: webhook_id, data: { webhook_id, types: ['user.banned'] } }]);
  expect(JSON.stringify(body)).not.toContain(secret);
  expect(JSON.stringify(body)).not.toContain('example.com');
});

describe('types', () => {
  test('select what is sent; * is everything except changes of the endpoint', async () => {
    const app = await newApp(api);
    const [some, all] = [await startReceiver(), await startReceiver()];
    await newWebhook(api, app, some.url, ['ban.created', 'ban.lifted']);
    const { webhook_id } = await newWebhook(api, app, all.url);
    await app.keys(1);
    await banNetwork(api, app);
    await expect.poll(() => all.received.map(({ message }) => message.type).sort()).toContain('ban.created');
    expect(
      all.received.map(({ message }) => message.type).filter((type) => type.startsWith('webhook.')),
    ).toEqual(
      all.received
        .filter(
          ({ message }) => message.type.startsWith('webhook.') && message.data['webhook_id'] !== webhook_id,
        )
        .map(({ message }) => message.type),
    );
    await expect.poll(() => some.received.map(({ message }) => message.type)).toEqual(['ban.created']);
  });

  test.each([
    [['user.banned', 'no.such_type'], '/types/1'],
    [['webhook.test'], '/types/0'],
    [['constructor.name'], '/types/0'],
    [[], '/types'],
    [['*', '*'], '/types'],
    [['USER.BANNED'], '/types/0'],
    [['user.*'], '/types/0'],
    ['*', '/types'],
    [null, '/types'],
  ])('%j', async (types, pointer) => {
    expectFaults(await create(await newApp(api), { ...HOOK, types }), pointer);
  });
});

describe('a URL that is refused', async () => {
  // On a separate database, because any node of a database may deliver.
  const strict = await startTestService();
  const app = await newApp(strict.api);

  test.each([
    'ftp://example.com/',
    'javascript:alert(1)',
    'example.com',
    '',
    'https://',
    'https://user:password@example.com/',
    'https://example.com:22/',
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://[fd00::1]:8080/',
    'https://example.com/\u0000',
    'https://example.com/ä',
    `https://example.com/${'a'.repeat(2048)}`,
    null,
  ])('%j', async (url) => {
    const response = await strict.api.post(pathOf(app), { ...HOOK, url }, { token: app.token });
    expectFaults(response, '/url');
  });
});

test.each([
  [{ types: ['*'] }, '/url'],
  [{ url: HOOK.url }, '/types'],
  [{ ...HOOK, description: 'a'.repeat(501) }, '/description'],
  [{ ...HOOK, description: 'a\u0000b' }, '/description'],
])('VALIDATION_FAILED for %j', async (body, pointer) => {
  expectFaults(await create(await newApp(api), body), pointer);
});

describe('an application has 20 endpoints at most', () => {
  test('even with concurrent requests', async () => {
    const app = await newApp(api);
    const responses = await Promise.all(Array.from({ length: 24 }, () => create(app, HOOK)));
    const refused = responses.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(4);
    for (const response of refused) expectError(response, 403, 'QUOTA_EXCEEDED');
    const made = responses.find(({ status }) => status === 201)!.body;
    await callWebhooks(api, app, 'DELETE', [made.webhook_id]);
    expect((await create(app, HOOK)).status).toBe(201);
    expectError(await create(app, HOOK), 403, 'QUOTA_EXCEEDED');
  });
});

test('with an Idempotency-Key it is created once', async () => {
  const app = await newApp(api);
  const send = (body: object) =>
    api.post<NewWebhook>(pathOf(app), body, { token: app.token, headers: { 'idempotency-key': 'a-key' } });
  const responses = [await send(HOOK), await send(HOOK)];
  expect(responses[1]!.body).toEqual(responses[0]!.body);
  expect(responses[1]!.headers.get('idempotency-replayed')).toBe('true');
  expectError(await send({ ...HOOK, types: ['*'] }), 422, 'IDEMPOTENCY_KEY_REUSED');
  const { body } = await callWebhooks<{ data: object[] }>(api, app, 'GET', []);
  expect(body.data).toHaveLength(1);
});

test('APPLICATION_NOT_FOUND for another developer’s, regardless of the body', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const foreign = await create({ ...app, token: other.token }, HOOK);
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  const absent = await create({ app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token: other.token }, HOOK);
  expect(comparable(absent)).toEqual(comparable(foreign));
  expectError(
    await create({ ...app, token: other.token }, { ...HOOK, url: 'http://10.0.0.1/' }),
    404,
    'APPLICATION_NOT_FOUND',
  );
});

test('INSUFFICIENT_SCOPE without auth:dev', () => expectScope(api, 'POST', () => [], HOOK));
