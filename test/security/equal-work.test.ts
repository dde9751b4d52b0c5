import { describe, expect, test, vi } from 'vitest';
import { sign } from '../concurrency/signed.ts';
import type { ApiResponse } from '../support/api.ts';
import { newApp, newHwid, newNonce, newSession, newUser, unique, type User } from '../support/fixtures.ts';
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
const existing = await newUser(api, app);
const banned = await newUser(api, app);
const bans = `/api/v2/dev/apps/${app.app_id}/bans`;
await api.post(bans, { kind: 'user', username: banned.username }, app);
const [licenseKey] = await app.keys(1);
const licensed = { app_id: app.app_id, license_key: licenseKey, hwid: newHwid() };
const byLicense = await api.post<{ token: string }>('/api/v2/client/login-license', licensed);
const { body: withoutPassword } = await api.verify({ app_id: app.app_id, token: byLicense.body.token });

/** Users who exist, do not exist, are banned or have no password, each with a wrong password. */
const wrong: Readonly<Record<string, () => User>> = {
  existing: () => ({ ...existing, password: 'a wrong password' }),
  'on another machine': () => ({ ...existing, password: 'a wrong password', hwid: newHwid() }),
  missing: () => ({ ...existing, username: unique('user'), password: existing.password }),
  banned: () => ({ ...banned, password: 'a wrong password' }),
  'without a password': () => ({ ...licensed, username: withoutPassword.username!, password: 'a password' }),
};

describe('a login with a wrong password does the same work for every user', () => {
  const each = (send: (user: User) => Promise<ApiResponse<object>>) =>
    Object.fromEntries(Object.entries(wrong).map(([name, user]) => [name, () => send(user())]));
  const refusal = { status: 401, code: 'INVALID_CREDENTIALS' };

  test('v1', async () => {
    await expectSameWork(
      workOf,
      each(({ username, password, hwid }) => api.login(app.with({ username, password, hwid }))),
      refusal,
    );
  });

  test('v2', async () => {
    const login = ({ username, password, hwid }: User) => {
      const body = { username, password, hwid, nonce: newNonce() };
      const { text, headers } = sign(app, body, service.clock.now().getTime());
      return api.post('/api/v2/client/login', text, { headers });
    };
    await expectSameWork(workOf, each(login), refusal);
    expect((await workOf(() => login(wrong['missing']!()))).verified).toBe(1);
  });
});

test('unknown, foreign and malformed license keys get the same response', async () => {
  const foreign = await newApp(api);
  const [foreignKey] = await foreign.keys(1);
  const login = (license_key: string) =>
    api.post('/api/v2/client/login-license', { app_id: app.app_id, license_key, hwid: licensed.hwid });
  await expectSameWork(
    workOf,
    { unknown: () => login('00000-00000-00000-00000-00000'), foreign: () => login(foreignKey!) },
    { status: 404, code: 'LICENSE_NOT_FOUND' },
  );
  const noKey = await workOf(() => login('no key'));
  expect(noKey.response).toEqual((await workOf(() => login(foreignKey!))).response);
});

test('an unknown application and a wrong signature cause the same work', async () => {
  const other = await newApp(api);
  const now = service.clock.now().getTime();
  for (const operation of ['login', 'login-license', 'verify-session', 'logout'] as const) {
    const send = (who: { app_id: string; secret: string }) => () => {
      const body = { ...existing, license_key: 'x', token: 'x', nonce: newNonce() };
      const { text, headers } = sign(who, body, now);
      return api.post(`/api/v2/client/${operation}`, text, { headers });
    };
    await expectSameWork(
      workOf,
      {
        unknown: send({ app_id: `app_${'0'.repeat(26)}`, secret: app.secret }),
        'wrong signature': send({ app_id: app.app_id, secret: other.secret }),
      },
      { status: 401, code: 'INVALID_APP_CREDENTIALS' },
    );
  }
});

test('a wrong secret causes the same work during an overlap of two secrets', async () => {
  const rotated = await newApp(api);
  const path = `/api/v2/dev/apps/${rotated.app_id}/rotate-secret`;
  await api.post(path, {}, rotated);
  const init = (app_id: string) => () => api.init({ app_id, secret: `sk_${'A'.repeat(43)}` });
  await expectSameWork(
    workOf,
    {
      unknown: init(`app_${'0'.repeat(26)}`),
      'one secret': init(app.app_id),
      'two secrets': init(rotated.app_id),
    },
    { status: 401, code: 'INVALID_APP_CREDENTIALS' },
  );
});

test('unknown, foreign and ended sessions cause the same work', async () => {
  const foreign = await newSession(api, await newApp(api));
  const ended = await newSession(api, app);
  await api.logout({ app_id: app.app_id, token: ended.token });
  for (const operation of ['verify-session', 'logout']) {
    const send = (token: string) => () =>
      api.post(`/api/v2/client/${operation}`, { app_id: app.app_id, token });
    await expectSameWork(
      workOf,
      {
        unknown: send(`${foreign.token.slice(0, -8)}AAAAAAAA`),
        foreign: send(foreign.token),
        ended: send(ended.token),
      },
      { status: 401, code: 'SESSION_INVALID' },
    );
  }
});
