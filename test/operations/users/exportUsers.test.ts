import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { ban, newApp, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { callUsers, registered, type UserView } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;

const exported = (app: Pick<App, 'app_id' | 'token'>, query = '') =>
  callUsers(api, app, 'GET', `/export${query}`);
const exportedLines = (app: App, query = '') => callUsers(api, app, 'GET', `/export/ndjson${query}`);
const textOf = async (app: App, query = '') => (await exported(app, query)).body as unknown as string;
const lines = async (app: App, query = '') =>
  ((await exportedLines(app, query)).body as unknown as string)
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
const formula = await callUsers<UserView>(api, app, 'POST', '', { username: '=1+1', role: '@role' });
await ban(api, app, { kind: 'user', username: '=1+1' });

test('CSV, newest first, without formulas', async () => {
  const response = await exported(app);
  expect(response.headers.get('content-type')).toBe('application/octet-stream');
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="users.csv"');
  const rows = parse(response.body as unknown as string) as string[][];
  const now = clock.now().toISOString();
  expect(rows).toEqual([
    ['user_id', 'username', 'email', 'role', 'hwid_bound', 'banned', 'tier', 'expires_at', 'created_at'],
    [formula.body.user_id, "'=1+1", '', "'@role", 'false', 'true', '', '', now],
    [ada.userId, ada.username, 'ada@example.com', 'user', 'true', 'false', 'Pro', inDays(clock, 30), now],
  ]);
});

test('accepts the filters of the list', async () => {
  expect(await lines(app, '?q=ada')).toHaveLength(1);
  expect(await lines(app, '?banned=true')).toMatchObject([{ username: '=1+1' }]);
  expect(await textOf(app, '?tier=VIP')).toMatch(/^user_id,[^\n]*\n$/);
  expectFaults(await exported(app, '?banned=maybe'), 'query/banned');
});

test('contains no hash, no machine and no password', async () => {
  const text = (await textOf(app)) + JSON.stringify(await lines(app));
  for (const secret of ['argon2', ada.hwid, ada.password]) expect(text).not.toContain(secret);
});

test.each(['', '/ndjson'])('can be imported%s as it is, without users who are banned', async (format) => {
  const target = await newApp(api);
  const [all, allowed] = await Promise.all(
    ['', '?banned=false'].map((query) => callUsers(api, app, 'GET', `/export${format}${query}`)),
  );
  const send = ({ body }: { body: unknown }) =>
    callUsers(api, target, 'POST', `/import${format}`, body, { 'content-type': 'application/octet-stream' });
  const refused = await send(all!);
  expectFaults(refused, format === '' ? '/line/2' : '/line/1');
  expect(refused.body.errors![0]!.detail).toContain('banned');
  expect((await send(allowed!)).body).toMatchObject({ imported: 1 });
  expect(await lines(target)).toMatchObject([
    { username: ada.username, email: 'ada@example.com', tier: 'Pro', expires_at: inDays(clock, 30) },
  ]);
});

test('a text that CSV prefixes with an apostrophe is imported without it', async () => {
  const [source, target] = [await newApp(api), await newApp(api)];
  const names = ['=1+1', "'=1+1", "''@x", '-5', '+x', '＝1', "'plain", 'a=b', 'with, comma', '🦊"'];
  for (const username of names) await callUsers(api, source, 'POST', '', { username });
  const written = parse(await textOf(source)) as string[][];
  expect(written.map(([, username]) => username)).toContain("''=1+1");
  const column = written.slice(1).map(([, username]) => `"${username!.replaceAll('"', '""')}"`);
  const text = ['username', ...column].join('\n');
  await callUsers(api, target, 'POST', '/import', text, { 'content-type': 'text/csv' });
  expect((await lines(target)).map(({ username }) => username).sort()).toEqual(names.toSorted());
});

test('ends when the client disconnects', async () => {
  const away = new AbortController();
  const response = await fetch(`${service.baseUrl}/api/v2/dev/apps/${app.app_id}/users/export`, {
    headers: { authorization: `Bearer ${app.token}` },
    signal: away.signal,
  });
  away.abort();
  await expect(response.text()).rejects.toThrow();
  expect((await exported(app)).status).toBe(200);
});

test('HEAD has only the headers', async () => {
  const response = await callUsers(api, app, 'HEAD', '/export');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/octet-stream');
});

test('APPLICATION_NOT_FOUND', async () => {
  const other = await newApp(api);
  const response = await exported({ app_id: app.app_id, token: other.token });
  expectError(response, 404, 'APPLICATION_NOT_FOUND');
});
