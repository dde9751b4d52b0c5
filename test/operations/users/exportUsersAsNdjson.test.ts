import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { ban, newApp, newDeveloper, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { callUsers, registered } from '../support/users.ts';

// exportUsers.test.ts imports what both formats export.
const service = await startTestService();
const { api, clock } = service;

const exported = (app: Pick<App, 'app_id' | 'token'>, query = '') =>
  callUsers(api, app, 'GET', `/export/ndjson${query}`);
const lines = async (app: App, query = '') =>
  ((await exported(app, query)).body as unknown as string)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const app = await newApp(api);
const [key] = await app.keys(1, 'Pro', 30);
const ada = await registered(api, app, {
  username: 'Ada, "Countess"',
  license_key: key,
  email: 'ada@example.com',
});
await callUsers(api, app, 'POST', '', { username: '=1+1', role: '@role' });
await ban(api, app, { kind: 'user', username: '=1+1' });

test('one object a line, newest first, with exact values', async () => {
  const response = await exported(app);
  expect(response.headers.get('content-type')).toBe('application/octet-stream');
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="users.ndjson"');
  expect(await lines(app)).toMatchObject([
    { username: '=1+1', email: null, role: '@role', banned: true, tier: null },
    { username: ada.username, email: 'ada@example.com', tier: 'Pro', expires_at: inDays(clock, 30) },
  ]);
});

test('accepts the filters of the list', async () => {
  expect(await lines(app, '?q=ada')).toHaveLength(1);
  expect(await lines(app, '?banned=true')).toMatchObject([{ username: '=1+1' }]);
  expectFaults(await exported(app, '?banned=maybe'), 'query/banned');
});

test('thousands of users are complete and in order', async () => {
  const large = await newApp(api);
  const database = await connectTo(service.databaseUrl);
  await database.query(
    `insert into users (user_id, app_id, username, username_key, created_at)
     select 'usr_' || lpad(n::text, 26, '0'), $1, 'u' || n, 'u' || n, now() from generate_series(1, 2001) n`,
    [large.app_id],
  );
  const rows = await lines(large);
  expect(rows.map(({ username }) => username)).toEqual(
    Array.from({ length: 2001 }, (_, index) => `u${2001 - index}`),
  );
});

test('APPLICATION_NOT_FOUND', async () => {
  const { token } = await newDeveloper(api);
  expectError(await exported({ app_id: app.app_id, token }), 404, 'APPLICATION_NOT_FOUND');
});
