import bcrypt from '@node-rs/bcrypt';
import { expect, test, vi } from 'vitest';
import { callUsers, registered } from '../operations/support/users.ts';
import type { ApiResponse } from '../support/api.ts';
import { ban, newApp, unique } from '../support/fixtures.ts';
import { expectSameWork, watchWork } from './support/work.ts';

// Test files share modules, so the modules that use the library are loaded again here, with the spy.
vi.mock('@node-rs/argon2', { spy: true });
vi.resetModules();
const argon2 = await import('@node-rs/argon2');
const { startTestService } = await import('../support/service.ts');

const service = await startTestService({}, { hashing: 'each' });
const { api } = service;
const workOf = watchWork(service, argon2);

const app = await newApp(api);
const existing = await registered(api, app);
const banned = await registered(api, app);
const limited = await registered(api, app);
await ban(api, app, { kind: 'user', username: banned.username });
await callUsers(api, app, 'POST', '', { username: 'without' });
const reset = (username: string, password: string) =>
  api.post('/api/v2/client/reset-hwid', { app_id: app.app_id, username, password });
await reset(limited.username, limited.password);

test('an hwid reset with a wrong password does the same work for every user', async () => {
  const sends: Record<string, () => Promise<ApiResponse<object>>> = {
    existing: () => reset(existing.username, 'a wrong password'),
    missing: () => reset(unique('user'), 'a wrong password'),
    banned: () => reset(banned.username, 'a wrong password'),
    'too soon': () => reset(limited.username, 'a wrong password'),
    'without a password': () => reset('without', 'a wrong password'),
  };
  const first = await expectSameWork(workOf, sends, { status: 401, code: 'INVALID_CREDENTIALS' });
  expect(first.statements.length).toBeGreaterThan(2);
  expect(first).toMatchObject({ verified: 1, hashed: 0 });
});

test('an imported user causes the same work as others once their hash is replaced', async () => {
  const password = 'pass of old';
  const hash = await bcrypt.hash(password, 4);
  const lines = JSON.stringify({ username: 'moved', password_hash: hash });
  const headers = { 'content-type': 'application/x-ndjson' };
  expect((await callUsers(api, app, 'POST', '/import/ndjson', lines, headers)).status).toBe(201);
  const wrong = (username: string) => workOf(() => reset(username, 'a wrong password'));
  // Before that, only the responses are equal: bcrypt takes a different time than Argon2.
  expect((await wrong('moved')).response).toEqual((await wrong('missing')).response);
  expect((await reset('moved', password)).status).toBe(200);
  expect(await wrong('moved')).toEqual(await wrong('missing'));
});
