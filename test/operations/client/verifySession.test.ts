import { describe, expect, test } from 'vitest';
import { DAY, SECOND } from '../../support/clock.ts';
import { newApp, newDeveloper, newHwid, newSession, newUser, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { encryptedSession, inDays, patchWithNewToken } from '../support/journeys.ts';

const service = await startTestService();
const { api, clock } = service;

/** A user's sessions by every form of handle that is accepted. */
async function everyForm(app: App) {
  const signed = await newSession(api, app);
  const machine = { ...(await newUser(api, app)) };
  const encrypted = await encryptedSession(service, app, machine);
  return [
    { form: 'JWS', token: signed.token, owner: signed.owner },
    { form: 'session id of a JWS', token: signed.session_id, owner: signed.owner },
    { form: 'JWE', token: encrypted.token, owner: machine },
    { form: 'session id of a JWE', token: encrypted.session_id, owner: machine },
  ];
}

test('every form of handle is accepted, with and without the machine', async () => {
  const app = await newApp(api);
  for (const { form, token, owner } of await everyForm(app)) {
    for (const hwid of [owner.hwid, undefined]) {
      const response = await api.verify({ app_id: app.app_id, token, ...(hwid && { hwid }) });
      expect(response.status, form).toBe(200);
      expect(response.body, form).toEqual({
        status: 'success',
        valid: true,
        user_id: expect.stringMatching(/^usr_/),
        username: owner.username,
        expiry: inDays(clock, 1),
      });
    }
  }
});

test('the encrypted token is a JWE that reveals only its algorithms', async () => {
  const app = await newApp(api);
  const { token } = await encryptedSession(service, app, await newUser(api, app));
  const parts = token.split('.');
  expect(parts).toHaveLength(5);
  expect(parts[1]).toBe('');
  const header = JSON.parse(Buffer.from(parts[0]!, 'base64url').toString()) as object;
  expect(header).toEqual({ alg: 'dir', enc: 'A256GCM', cty: 'JWT', kid: expect.any(String) });
});

test('a session is valid for 24 hours, to the millisecond', async () => {
  const app = await newApp(api);
  const handles = await everyForm(app);
  const verify = (token: string) => api.verify({ app_id: app.app_id, token });
  clock.advance(DAY - 1);
  for (const { token } of handles) expect((await verify(token)).status).toBe(200);
  clock.advance(1);
  for (const { token } of handles) expectError(await verify(token), 401, 'SESSION_EXPIRED');
});

test('an expired session is distinguished for a week, then deleted', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  const verify = () => api.verify({ app_id: app.app_id, token });
  clock.advance(8 * DAY);
  await service.services.sessions.clearExpired();
  expectError(await verify(), 401, 'SESSION_EXPIRED');
  clock.advance(1);
  await service.services.sessions.clearExpired();
  expectError(await verify(), 401, 'SESSION_INVALID');
});

describe('SESSION_INVALID', () => {
  test('is the same for everything that is not a live session of this application', async () => {
    const [app, other] = [await newApp(api), await newApp(api)];
    const { token, session_id } = await newSession(api, app);
    const [header, claims, signature] = token.split('.') as [string, string, string];
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const responses = [];
    for (const [app_id, handle] of [
      [other.app_id, token],
      [other.app_id, session_id],
      ['app_01kazm4q7ffx8v5t2w9y3b6n1c', token],
      [app.app_id.toUpperCase(), token],
      [app.app_id, app.token],
      [app.app_id, app.secret],
      [app.app_id, 'nonsense'],
      [app.app_id, `${token}.`],
      [app.app_id, ` ${token}`],
      [app.app_id, token.slice(0, -1)],
      [app.app_id, `${header}.${claims}.`],
      [app.app_id, `${none}.${claims}.`],
      [app.app_id, `${none}.${claims}.${signature}`],
      [app.app_id, `${header}.${signature}.${claims}`],
      [app.app_id, session_id.slice(1)],
      [app.app_id, `${session_id}==`],
      [app.app_id, swapCase(session_id)],
      [app.app_id, 'x'.repeat(22)],
      [app.app_id, 'x'.repeat(4096)],
      [app.app_id, '\u0000'.repeat(22)],
      [app.app_id, 'ü'.repeat(22)],
    ]) {
      responses.push(await api.verify({ app_id: app_id!, token: handle! }));
    }
    for (const response of responses) {
      expectError(response, 401, 'SESSION_INVALID');
      expect(comparable(response)).toEqual(comparable(responses[0]!));
    }
    expect((await api.verify({ app_id: app.app_id, token })).status).toBe(200);
  });

  test('for every token with one character changed', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    const responses = await Promise.all(
      [...token].map((character, at) => {
        const mutated = token.slice(0, at) + (character === 'A' ? 'B' : 'A') + token.slice(at + 1);
        return api.verify({ app_id: app.app_id, token: mutated });
      }),
    );
    expect([...new Set(responses.map(({ status }) => status))]).toEqual([401]);
  });

  test('at once when the session has ended or the application is deleted', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
    expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
  });
});

describe('hardware', () => {
  test('HWID_MISMATCH for another machine if the lock is on', async () => {
    const app = await newApp(api);
    for (const { form, token, owner } of await everyForm(app)) {
      for (const hwid of [newHwid(), `${owner.hwid}0`, owner.hwid.slice(0, -1), owner.hwid.toUpperCase()]) {
        const response = await api.verify({ app_id: app.app_id, token, hwid });
        if (hwid === owner.hwid) continue;
        expect({ form, status: response.status, code: response.body.code }).toEqual({
          form,
          status: 403,
          code: 'HWID_MISMATCH',
        });
      }
    }
  });

  test('does not matter if the lock is off', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    await app.patch({ hwid_lock: false });
    expect((await api.verify({ app_id: app.app_id, token, hwid: newHwid() })).status).toBe(200);
  });

  test('is not required of an invalid session, or of another application', async () => {
    const [app, other] = [await newApp(api), await newApp(api)];
    const { token } = await newSession(api, app);
    const response = await api.verify({ app_id: other.app_id, token, hwid: newHwid() });
    expectError(response, 401, 'SESSION_INVALID');
  });

  test('is that of the session, not that of the account', async () => {
    const app = await newApp(api);
    await app.patch({ hwid_lock: false });
    const user = await newUser(api, app);
    const second = { ...user, hwid: newHwid() };
    const { body } = await api.login(app.with(second));
    await app.patch({ hwid_lock: true });
    const verify = (hwid: string) => api.verify({ app_id: app.app_id, token: body.token, hwid });
    expect((await verify(second.hwid)).status).toBe(200);
    expectError(await verify(user.hwid), 403, 'HWID_MISMATCH');
  });
});

describe('status of the application', () => {
  test('paused, sessions keep verifying unless pause_sessions is on', async () => {
    const app = await newApp(api);
    const handles = await everyForm(app);
    const verify = (token: string) => api.verify({ app_id: app.app_id, token });
    await app.patch({ status: 'paused' });
    for (const { token } of handles) expect((await verify(token)).status).toBe(200);
    await app.patch({ pause_sessions: true });
    for (const { token } of handles) expectError(await verify(token), 403, 'APPLICATION_PAUSED');
    await app.patch({ status: 'active' });
    for (const { token } of handles) expect((await verify(token)).status).toBe(200);
  });

  test('disabled, APPLICATION_INACTIVE for sessions and SESSION_INVALID for the rest', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    await app.patch({ status: 'disabled' });
    expectError(await api.verify({ app_id: app.app_id, token }), 401, 'APPLICATION_INACTIVE');
    expectError(await api.verify({ app_id: app.app_id, token: 'nonsense' }), 401, 'SESSION_INVALID');
    await app.patch({ status: 'active' });
    expect((await api.verify({ app_id: app.app_id, token })).status).toBe(200);
  });
});

describe('subscription', () => {
  const subscription = ({ body }: Awaited<ReturnType<typeof api.verify>>) => [
    body.subscription_status,
    body.subscription_tier,
    body.subscription_expires_at,
  ];

  test('none, active to the millisecond, expired', async () => {
    const app = await newApp(api);
    const [key] = await app.keys(1, 'Pro', 1);
    clock.advance(1);
    const user = await newUser(api, app);
    const { body } = await api.login(app.with(user));
    const verify = () => api.verify({ app_id: app.app_id, token: body.token });
    expect(subscription(await verify())).toEqual([undefined, undefined, undefined]);
    clock.advance(SECOND);
    await api.activate(app.with({ username: user.username, license_key: key! }));
    const end = inDays(clock, 1);
    expect(subscription(await verify())).toEqual(['active', 'Pro', end]);
    clock.advance(DAY - 1);
    const renewed = await api.login(app.with(user));
    const again = () => api.verify({ app_id: app.app_id, token: renewed.body.token });
    expect(subscription(await again())).toEqual(['active', 'Pro', end]);
    clock.advance(1);
    const expired = await again();
    expect(expired.status).toBe(200);
    expect(expired.body).toMatchObject({ valid: true, subscription_status: 'expired' });
    expect(expired.body).not.toHaveProperty('subscription_tier');
    expect(expired.body).not.toHaveProperty('subscription_expires_at');
  });

  test('names the tier in force, not the last one redeemed', async () => {
    const app = await newApp(api);
    const [vip] = await app.keys(1, 'VIP', 1);
    const [standard] = await app.keys(1, 'Standard', 1);
    const user = await newUser(api, app);
    await api.activate(app.with({ username: user.username, license_key: vip! }));
    await api.activate(app.with({ username: user.username, license_key: standard! }));
    const { body } = await api.login(app.with(user));
    const now = await api.verify({ app_id: app.app_id, token: body.token });
    expect(subscription(now)).toEqual(['active', 'VIP', inDays(clock, 1)]);
    clock.advance(DAY);
    const later = await api.login(app.with(user));
    const then = await api.verify({ app_id: app.app_id, token: later.body.token });
    expect(subscription(then)).toEqual(['active', 'Standard', inDays(clock, 1)]);
  });

  test('of a lifetime ends with the year 9999', async () => {
    const app = await newApp(api);
    const [key] = await app.keys(1, 'Pro', null);
    const { token, owner } = await newSession(api, app);
    await api.activate(app.with({ username: owner.username, license_key: key! }));
    const response = await api.verify({ app_id: app.app_id, token });
    expect(subscription(response)).toEqual(['active', 'Pro', '9999-12-31T23:59:59.999Z']);
  });

  test('SUBSCRIPTION_EXPIRED under require_subscription, for none and for an expired one', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const [key] = await app.keys(1, 'Pro', 1);
    const user = await newUser(api, app);
    const first = (await api.login(app.with(user))).body.token;
    const verify = (token: string) => api.verify({ app_id: app.app_id, token });
    await app.patch({ require_subscription: true });
    expectError(await verify(first), 403, 'SUBSCRIPTION_EXPIRED');
    await api.activate(app.with({ username: user.username, license_key: key! }));
    expect((await verify(first)).status).toBe(200);
    clock.advance(DAY - SECOND);
    const second = (await api.login(app.with(user))).body.token;
    clock.advance(SECOND);
    expectError(await verify(second), 403, 'SUBSCRIPTION_EXPIRED');
    expect((await patchWithNewToken(api, developer, app, { require_subscription: false })).status).toBe(200);
    expect((await verify(second)).body).toMatchObject({ valid: true, subscription_status: 'expired' });
  });
});

test('concurrent requests each get their own response', async () => {
  const app = await newApp(api);
  await app.patch({ max_sessions: 1000 });
  const user = await newUser(api, app);
  const { body } = await api.login(app.with(user));
  const application = await service.services.applications.authenticate(app.app_id, app.secret);
  const { sessions } = service.services;
  const made = await Promise.all(
    Array.from({ length: 80 }, async (_each, index) => {
      const session = await sessions.prepare(app.app_id, body.user!.id!, index % 2 ? 'signed' : 'encrypted');
      return { ...session, expiresAt: new Date(session.expiresAt.getTime() - index * SECOND) };
    }),
  );
  await service.database.knex.transaction(async (trx) => {
    for (const [index, session] of made.entries()) {
      await sessions.begin(trx, application, body.user!.id!, Buffer.alloc(32, index + 1), session, {
        tier: null,
        version: null,
        deviceId: null,
        address: '127.0.0.1',
      });
    }
  });
  const handles = made.flatMap(({ token, sessionId }, index) => [token, sessionId, `no session ${index}`]);
  const responses = await Promise.all(handles.map((token) => api.verify({ app_id: app.app_id, token })));
  for (const [index, session] of made.entries()) {
    const [byToken, byId, byNothing] = responses.slice(index * 3);
    expect(byToken!.body.expiry).toBe(session.expiresAt.toISOString());
    expect(byId!.body.expiry).toBe(session.expiresAt.toISOString());
    expect(byNothing!.status).toBe(401);
  }
});

test('VALIDATION_FAILED lists every fault', async () => {
  const verify = (body: object) => api.post('/api/v1/client/verify-session', body);
  expectFaults(await verify({}), '/token', '/app_id');
  expectFaults(await verify({ token: '', app_id: 1, hwid: '' }), '/token', '/app_id', '/hwid');
  expectFaults(await verify({ token: 'x'.repeat(4097), app_id: 'a' }), '/token');
});

function swapCase(text: string): string {
  return [...text].map((c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase())).join('');
}
