import { expect, test } from 'vitest';
import { newApp, newDeveloper, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { callUsers, type UserView } from '../support/users.ts';

// importUsers.test.ts sends faulty lines, and imports that are interrupted, in both formats.
const { api } = await startTestService();
const send = (app: Pick<App, 'app_id' | 'token'>, text: string, headers: Record<string, string> = {}) =>
  callUsers(api, app, 'POST', '/import/ndjson', text, {
    'content-type': 'application/x-ndjson',
    ...headers,
  });
const names = async (app: App) =>
  (await callUsers<{ data: UserView[] }>(api, app, 'GET', '')).body.data.map(({ username }) => username);

test('creates the users of all lines, as bytes too', async () => {
  const app = await newApp(api);
  const lines = '{"username":"ada","tier":"Pro","days":30}\n{"username":"grace"}';
  const { status, body } = await send(app, lines);
  expect({ status, body }).toEqual({ status: 201, body: { status: 'success', imported: 2 } });
  const bytes = { 'content-type': 'application/octet-stream' };
  expect((await send(app, '{"username":"mary"}\n', bytes)).status).toBe(201);
  expect((await names(app)).sort()).toEqual(['ada', 'grace', 'mary']);
});

test('a boolean is accepted only where an export has one', async () => {
  const app = await newApp(api);
  const line = '{"username":"ada","hwid_bound":true,"banned":false,"created_at":"x"}';
  expect((await send(app, line)).status).toBe(201);
  expectFaults(await send(app, '{"username":true}'), '/line/1');
  expectFaults(await send(app, '{"username":"grace","banned":true}'), '/line/1');
  expect(await names(app)).toEqual(['ada']);
});

test('an Idempotency-Key imports once', async () => {
  const app = await newApp(api);
  const headers = { 'idempotency-key': app.app_id };
  expect((await send(app, '{"username":"ada"}', headers)).status).toBe(201);
  const again = await send(app, '{"username":"ada"}', headers);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await names(app)).toEqual(['ada']);
});

test('USERNAME_TAKEN, APPLICATION_NOT_FOUND, UNAUTHORIZED', async () => {
  const app = await newApp(api);
  await send(app, '{"username":"ada"}');
  expectError(await send(app, '{"username":"grace"}\n{"username":"Ada"}'), 409, 'USERNAME_TAKEN');
  const { token } = await newDeveloper(api);
  expectError(await send({ app_id: app.app_id, token }, '{}'), 404, 'APPLICATION_NOT_FOUND');
  expectError(await send({ app_id: app.app_id, token: '' }, '{}'), 401, 'UNAUTHORIZED');
});
