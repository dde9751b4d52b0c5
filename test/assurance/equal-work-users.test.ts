import bcrypt from '@node-rs/bcrypt';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { callUsers, registered } from '../operations/support/users.ts';
import type { Answer } from '../support/api.ts';
import { ban, newApp, unique } from '../support/fixtures.ts';

// Files share their modules: what was loaded before is loaded again here, on the watched library.
vi.mock('@node-rs/argon2', { spy: true });
vi.resetModules();
const argon2 = await import('@node-rs/argon2');
const { startTestService } = await import('../support/service.ts');

const service = await startTestService();
const { api } = service;
const query = vi.spyOn(pg.Client.prototype, 'query');

/** What a request asks for; nodes and relays ask for other tables, of their own accord. */
const ASKED = /\b(applications|users|bans|rate_limits|sessions|subscriptions)\b/;

/** What the service asked of the database and how many passwords it hashed, beside what it answered. */
async function workOf(send: () => Promise<Answer<object>>): Promise<object> {
  query.mockClear();
  vi.mocked(argon2.verify).mockClear();
  vi.mocked(argon2.hash).mockClear();
  const { status, headers, body } = await send();
  return {
    statements: query.mock.calls
      .map(([statement]) =>
        typeof statement === 'string' ? statement : (statement as { text: string }).text,
      )
      .filter((text) => ASKED.test(text)),
    verified: vi.mocked(argon2.verify).mock.calls.length,
    hashed: vi.mocked(argon2.hash).mock.calls.length,
    answer: {
      status,
      body: { ...body, timestamp: '', request_id: '' },
      headers: [...headers.keys()],
      length: headers.get('content-length'),
    },
  };
}

const app = await newApp(api);
const existing = await registered(api, app);
const banned = await registered(api, app);
const limited = await registered(api, app);
await ban(api, app, { kind: 'user', username: banned.username });
await callUsers(api, app, 'POST', '', { username: 'without' });
const reset = (username: string, password: string) =>
  api.post('/api/v2/client/reset-hwid', { app_id: app.app_id, username, password });
await reset(limited.username, limited.password);

test('a reset of a machine with a wrong password is the same work for every user', async () => {
  const sends: Record<string, () => Promise<Answer<object>>> = {
    existing: () => reset(existing.username, 'a wrong password'),
    missing: () => reset(unique('user'), 'a wrong password'),
    banned: () => reset(banned.username, 'a wrong password'),
    'too soon': () => reset(limited.username, 'a wrong password'),
    'without a password': () => reset('without', 'a wrong password'),
  };
  const works = new Map<string, object>();
  // A second time, because connections and statements are prepared at the first.
  for (let round = 0; round < 2; round += 1)
    for (const [name, send] of Object.entries(sends)) works.set(name, await workOf(send));
  const [first] = works.values();
  expect((first as { statements: string[] }).statements.length).toBeGreaterThan(2);
  expect(first).toMatchObject({ verified: 1, hashed: 0, answer: { body: { code: 'INVALID_CREDENTIALS' } } });
  for (const [name, work] of works) expect(work, name).toEqual(first);
});

test('an imported user is the same work again once his hash is replaced', async () => {
  const password = 'pass of old';
  const hash = await bcrypt.hash(password, 4);
  const lines = JSON.stringify({ username: 'moved', password_hash: hash });
  const headers = { 'content-type': 'application/x-ndjson' };
  expect((await callUsers(api, app, 'POST', '/import', lines, headers)).status).toBe(201);
  const wrong = (username: string) => workOf(() => reset(username, 'a wrong password'));
  const answerOf = (work: object) => (work as { answer: unknown }).answer;
  // Until then only the answer is the same: bcrypt takes another time than Argon2.
  expect(answerOf(await wrong('moved'))).toEqual(answerOf(await wrong('nobody')));
  expect((await reset('moved', password)).status).toBe(200);
  expect(await wrong('moved')).toEqual(await wrong('nobody'));
});
