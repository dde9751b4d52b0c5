import { expect, test } from 'vitest';
import { newApp, newDeveloper, newHwid, newUser, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { limitPlan } from '../support/plans.ts';
import { callUsers, registered, seatsOf, type UserView } from '../support/users.ts';
import { flood } from '../../support/hashing.ts';

const service = await startTestService({}, { hashing: 'each' });
const { api } = service;

test('creates a user whose first login binds their machine', async () => {
  const app = await newApp(api);
  const draft = {
    username: 'Ada',
    password: 'a user password',
    email: 'Ada@Example.com',
    role: 'Beta tester',
  };
  const { status, body } = await callUsers<UserView>(api, app, 'POST', '', draft);
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    user_id: expect.stringMatching(/^usr_[0-9a-z]{26}$/),
    username: 'Ada',
    email: 'Ada@Example.com',
    role: 'Beta tester',
    password_state: 'set',
    hwid_bound: false,
    hwid_reset_at: null,
    subscription: { subscription_status: 'none', tier: null, expires_at: null, ends_at: null, periods: [] },
    live_sessions: 0,
    ban: null,
    created_at: service.clock.now().toISOString(),
  });
  const { username, password } = draft;
  const login = await api.login(app.with({ username, password, hwid: newHwid() }));
  expect(login.body.user).toMatchObject({ id: body.user_id, role: 'Beta tester' });
  const other = await api.login(app.with({ username, password, hwid: newHwid() }));
  expectError(other, 403, 'HWID_MISMATCH');
  expect(await seatsOf(api, app)).toBe(1);
});

test('a user without a password cannot log in', async () => {
  const app = await newApp(api);
  const { body } = await callUsers<UserView>(api, app, 'POST', '', { username: 'ada' });
  expect(body).toMatchObject({ password_state: 'none', role: 'user', email: null });
  for (const password of ['null', 'undefined', '!', 'a password']) {
    const login = await api.login(app.with({ username: 'ada', password, hwid: 'machine' }));
    expectError(login, 401, 'INVALID_CREDENTIALS');
  }
});

test('USERNAME_TAKEN, regardless of case and look-alike letters', async () => {
  const app = await newApp(api);
  const { username } = await registered(api, app);
  for (const same of [username, username.toUpperCase(), ` ${username}`]) {
    expectError(await callUsers(api, app, 'POST', '', { username: same }), 409, 'USERNAME_TAKEN');
  }
  const both = await Promise.all(
    Array.from({ length: 8 }, () => callUsers(api, app, 'POST', '', { username: 'twin' })),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  expect(await seatsOf(api, app)).toBe(2);
});

test('QUOTA_EXCEEDED, and nothing is created', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await limitPlan(service.databaseUrl, developer, { users: 1 });
  expect((await callUsers(api, app, 'POST', '', { username: 'first' })).status).toBe(201);
  expectError(await callUsers(api, app, 'POST', '', { username: 'second' }), 403, 'QUOTA_EXCEEDED');
  await limitPlan(service.databaseUrl, developer, { users: 2 });
  expect((await callUsers(api, app, 'POST', '', { username: 'second' })).status).toBe(201);
});

test('TOO_MANY_REQUESTS while too many passwords wait', async () => {
  const app = await newApp(api);
  const { atOnce, later } = await flood(2, () =>
    callUsers(api, app, 'POST', '', { username: unique('user'), password: 'a user password' }),
  );
  for (const response of atOnce) expectError(response, 429, 'TOO_MANY_REQUESTS');
  expect(later.every(({ status }) => status === 201)).toBe(true);
  expect(await seatsOf(api, app)).toBe(later.length);
});

test('does not cause refusals of logins', async () => {
  const app = await newApp(api);
  const other = await newApp(api);
  const user = await newUser(api, other);
  /** Passwords that wait, and those that were refused. */
  const seen = async () => {
    const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
    const lines = text.match(/^latchkey_password_hashes(_refused_total|\{.*"waiting".*\}) \d+$/gm)!;
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  let login: ReturnType<typeof api.login> | undefined;
  const { atOnce } = await flood(1, async () => {
    const draft = { username: unique('user'), password: 'a user password' };
    const response = await callUsers(api, app, 'POST', '', draft);
    if (response.status !== 429) return response;
    const before = await seen();
    login = api.login(other.with(user));
    await expect.poll(seen).toBe(before + 1);
    return response;
  });
  expectError(atOnce[0]!, 429, 'TOO_MANY_REQUESTS');
  expect((await login!).status).toBe(200);
});

test('an Idempotency-Key creates once', async () => {
  const app = await newApp(api);
  const key = { 'idempotency-key': unique('key') };
  const first = await callUsers<UserView>(api, app, 'POST', '', { username: 'ada' }, key);
  const again = await callUsers<UserView>(api, app, 'POST', '', { username: 'ada' }, key);
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expectError(await callUsers(api, app, 'POST', '', { username: 'eve' }, key), 422, 'IDEMPOTENCY_KEY_REUSED');
});

test('VALIDATION_FAILED for values that are not valid', async () => {
  const app = await newApp(api);
  const draft = { username: 'ada' };
  expectFaults(await callUsers(api, app, 'POST', '', {}), '/username');
  expectFaults(await callUsers(api, app, 'POST', '', { username: 'a\u200bb' }), '/username');
  expectFaults(await callUsers(api, app, 'POST', '', { username: '\u{E0001}' }), '/username');
  expectFaults(await callUsers(api, app, 'POST', '', { ...draft, password: '1234567' }), '/password');
  expectFaults(await callUsers(api, app, 'POST', '', { ...draft, email: 'nowhere' }), '/email');
  expectFaults(await callUsers(api, app, 'POST', '', { ...draft, role: '' }), '/role');
  expectFaults(await callUsers(api, app, 'POST', '', { ...draft, role: 'r'.repeat(33) }), '/role');
  expectFaults(await callUsers(api, app, 'POST', '', { ...draft, role: 'a\u0000' }), '/role');
  expect(await seatsOf(api, app)).toBe(0);
});
