import { describe, expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import {
  ban,
  newApp,
  newDeveloper,
  newHwid,
  newNonce,
  newUser,
  signed,
  type App,
} from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { limitPlan } from '../support/plans.ts';
import { boundSignatureOf, signatureOf } from '../../support/response-signature.ts';

const service = await startTestService();
const { api, clock, databaseUrl } = service;

const login = ({ app_id }: App, license_key: string, hwid: string) =>
  api.loginWithLicense({ app_id, license_key, hwid });
const verify = async ({ app_id }: App, token: string) => (await api.verify({ app_id, token })).body;
const newKey = async (app: App, tier = 'Pro', days: number | null = 30) =>
  (await app.keys(1, tier, days))[0]!;
const usersOf = async (app: App) => {
  const { body } = await api.call('GET', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  return body['users'];
};

describe('an unused key', () => {
  test('creates a user with the user id as the name, the subscription and a session of 24 hours', async () => {
    const app = await newApp(api);
    const license_key = await newKey(app);
    const { status, body } = await login(app, license_key, newHwid());
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      token: expect.any(String),
      signature: expect.stringMatching(/^[0-9a-f]{64}$/),
      expires_at: inDays(clock, 1),
    });
    expect(body.token.split('.')).toHaveLength(5);
    const session = await verify(app, body.token);
    expect(session).toEqual({
      status: 'success',
      valid: true,
      user_id: expect.stringMatching(/^usr_[0-9a-z]{26}$/),
      username: session.user_id,
      expiry: inDays(clock, 1),
      subscription_tier: 'Pro',
      subscription_status: 'active',
      subscription_expires_at: inDays(clock, 30),
    });
    expect(await usersOf(app)).toBe(1);
    const { body: list } = await api.call('GET', `/api/v2/dev/apps/${app.app_id}/licenses`, undefined, app);
    expect(list['data']).toMatchObject([
      {
        license_key,
        status: 'redeemed',
        redeemed_by: session.user_id,
        redeemed_at: clock.now().toISOString(),
      },
    ]);
  });

  test('is accepted in any notation', async () => {
    const app = await newApp(api);
    const key = await newKey(app);
    const hwid = newHwid();
    const { body } = await login(app, key.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o'), hwid);
    const again = await login(app, key, hwid);
    expect(again.status).toBe(200);
    expect((await verify(app, again.body.token)).user_id).toBeDefined();
    expectError(await api.verify({ app_id: app.app_id, token: body.token }), 401, 'SESSION_INVALID');
  });

  test('binds the machine', async () => {
    const app = await newApp(api);
    const key = await newKey(app);
    const hwid = newHwid();
    await login(app, key, hwid);
    expectError(await login(app, key, newHwid()), 403, 'HWID_MISMATCH');
    expect((await login(app, key, hwid)).status).toBe(200);
    const database = await connectTo(databaseUrl);
    const { rows } = await database.query<{ row: string }>(
      'select u::text as row from users u join licenses l on l.redeemed_by = u.user_id where l.app_id = $1',
      [app.app_id],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.row).not.toContain(hwid);
  });

  test('creates one user with concurrent logins', async () => {
    const app = await newApp(api);
    const key = await newKey(app);
    const hwid = newHwid();
    const responses = await Promise.all(Array.from({ length: 10 }, () => login(app, key, hwid)));
    expect(responses.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
    expect(await usersOf(app)).toBe(1);
    const sessions = await Promise.all(
      responses.map(({ body }) => api.verify({ app_id: app.app_id, token: body.token })),
    );
    // A machine has one session: the last one.
    expect(sessions.filter(({ status }) => status === 200)).toHaveLength(1);
    const [live] = sessions.filter(({ status }) => status === 200);
    expect(live!.body.subscription_expires_at).toBe(inDays(clock, 30));
  });

  test('binds one of several machines with concurrent logins', async () => {
    const app = await newApp(api);
    const key = await newKey(app);
    const responses = await Promise.all(Array.from({ length: 8 }, () => login(app, key, newHwid())));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(403)]);
    for (const response of responses)
      if (response.status === 403) expectError(response, 403, 'HWID_MISMATCH');
    expect(await usersOf(app)).toBe(1);
  });

  test('of a developer with a full plan returns QUOTA_EXCEEDED, and stays unspent', async () => {
    const developer = await newDeveloper(api);
    await limitPlan(databaseUrl, developer, { users: 1 });
    const app = await newApp(api, developer);
    const [first, second] = (await app.keys(2)) as [string, string];
    expect((await login(app, first, newHwid())).status).toBe(200);
    expectError(await login(app, second, newHwid()), 403, 'QUOTA_EXCEEDED');
    expect(await usersOf(app)).toBe(1);
    const { body } = await api.call('GET', `/api/v2/dev/apps/${app.app_id}/licenses`, undefined, app);
    const statuses = (body['data'] as { license_key: string; status: string }[]).map((license) => [
      license.license_key,
      license.status,
    ]);
    expect(Object.fromEntries(statuses)).toEqual({ [first]: 'redeemed', [second]: 'unused' });
    await limitPlan(databaseUrl, developer, { users: 2 });
    expect((await login(app, second, newHwid())).status).toBe(200);
  });
});

describe('a key that is redeemed', () => {
  test('logs in its user again, adds no time, and replaces the machine’s session', async () => {
    const app = await newApp(api);
    const key = await newKey(app);
    const hwid = newHwid();
    const first = await login(app, key, hwid);
    const { user_id } = await verify(app, first.body.token);
    clock.advance(DAY / 2);
    const second = await login(app, key, hwid);
    expectError(await api.verify({ app_id: app.app_id, token: first.body.token }), 401, 'SESSION_INVALID');
    expect(await verify(app, second.body.token)).toMatchObject({
      user_id,
      subscription_expires_at: inDays(clock, 29.5),
    });
    expect(await usersOf(app)).toBe(1);
  });

  test('of a user without a password follows the switch hwid_lock', async () => {
    const app = await newApp(api);
    const key = await newKey(app);
    const hwid = newHwid();
    await login(app, key, hwid);
    await app.patch({ hwid_lock: false });
    expect((await login(app, key, newHwid())).status).toBe(200);
    await app.patch({ hwid_lock: true });
    expectError(await login(app, key, newHwid()), 403, 'HWID_MISMATCH');
    expect((await login(app, key, hwid)).status).toBe(200);
  });

  test('of a user with a password logs that user in on its own machine, regardless of hwid_lock', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const key = await newKey(app);
    await api.activate(app.with({ username: user.username, license_key: key }));
    for (const hwid_lock of [true, false]) {
      await app.patch({ hwid_lock });
      expectError(await login(app, key, newHwid()), 403, 'HWID_MISMATCH');
      const { status, body } = await login(app, key, user.hwid);
      expect(status).toBe(200);
      expect(await verify(app, body.token)).toMatchObject({ username: user.username });
    }
    expect(await usersOf(app)).toBe(1);
  });

  test('of a user with a password can try 10 machines a minute from one address', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const keys = await app.keys(2);
    for (const license_key of keys) await api.activate(app.with({ username: user.username, license_key }));
    // With any of the user's keys.
    for (let n = 0; n < 10; n += 1)
      expectError(await login(app, keys[n % 2]!, newHwid()), 403, 'HWID_MISMATCH');
    expectError(await login(app, keys[0]!, newHwid()), 429, 'TOO_MANY_REQUESTS');
    // The bound machine is not affected.
    for (const key of keys) expect((await login(app, key, user.hwid)).status).toBe(200);
    expectError(await login(app, keys[1]!, newHwid()), 429, 'TOO_MANY_REQUESTS');
    expect((await api.login(app.with(user))).status).toBe(200);
  });

  test('that a stranger redeemed for the user of another key fails on another machine, with any lock', async () => {
    const app = await newApp(api);
    const [own, foreign] = (await app.keys(2)) as [string, string];
    const hwid = newHwid();
    const { user_id } = await verify(app, (await login(app, own, hwid)).body.token);
    await api.activate(app.with({ username: user_id, license_key: foreign }));
    for (const hwid_lock of [true, false]) {
      await app.patch({ hwid_lock });
      expectError(await login(app, foreign, newHwid()), 403, 'HWID_MISMATCH');
      expect((await login(app, foreign, hwid)).status).toBe(200);
    }
    // The user's own key works on any machine if the hardware lock is off.
    expect((await login(app, own, newHwid())).status).toBe(200);
  });

  test('of a user with a password but without a machine fails, and binds no machine', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const key = await newKey(app);
    await api.activate(app.with({ username: user.username, license_key: key }));
    const database = await connectTo(databaseUrl);
    await database.query('update users set hwid_digest = null where username = $1', [user.username]);
    expectError(await login(app, key, user.hwid), 403, 'HWID_MISMATCH');
    expect((await api.login(app.with({ ...user, hwid: newHwid() }))).status).toBe(200);
  });

  test('still logs in after the subscription has ended, unless one is required', async () => {
    const app = await newApp(api);
    const key = await newKey(app, 'Pro', 1);
    const hwid = newHwid();
    await login(app, key, hwid);
    await app.patch({ require_subscription: true });
    expect((await login(app, key, hwid)).status).toBe(200);
    clock.advance(DAY - 1);
    expect((await login(app, key, hwid)).status).toBe(200);
    clock.advance(1);
    expectError(await login(app, key, hwid), 403, 'SUBSCRIPTION_EXPIRED');
  });

  test('still logs in after redeem_by, which applies only to its redemption', async () => {
    const app = await newApp(api);
    const redeem_by = inDays(clock, 0.5);
    const made = await api.post<{ licenses: { license_key: string }[] }>(
      `/api/v2/dev/apps/${app.app_id}/licenses`,
      { amount: 2, duration_days: 30, tier: 'Pro', redeem_by },
      { token: app.token },
    );
    const [first, late] = made.body.licenses.map(({ license_key }) => license_key) as [string, string];
    const hwid = newHwid();
    expect((await login(app, first, hwid)).status).toBe(200);
    clock.advance(DAY / 2 + 1);
    expect((await login(app, first, hwid)).status).toBe(200);
    expectError(await login(app, late, newHwid()), 400, 'LICENSE_UNUSABLE');
    expect(await usersOf(app)).toBe(1);
  });
});

describe('a required subscription', () => {
  test('is that of a new key', async () => {
    const app = await newApp(api);
    await app.patch({ require_subscription: true });
    expect((await login(app, await newKey(app), newHwid())).status).toBe(200);
  });

  test('never ends with a lifetime', async () => {
    const app = await newApp(api);
    await app.patch({ require_subscription: true });
    const { body } = await login(app, await newKey(app, 'VIP', null), newHwid());
    expect(await verify(app, body.token)).toMatchObject({
      subscription_tier: 'VIP',
      subscription_expires_at: '9999-12-31T23:59:59.999Z',
    });
  });
});

describe('LICENSE_NOT_FOUND', () => {
  test('is the same for unknown, mistyped, foreign and deleted keys', async () => {
    const [app, other] = [await newApp(api), await newApp(api)];
    const [unused, redeemed] = [await newKey(other), await newKey(other)];
    const hwid = newHwid();
    await login(other, redeemed, hwid);
    const responses = [
      await login(app, unused, newHwid()),
      await login(app, redeemed, hwid),
      await login(app, 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA', newHwid()),
      await login(app, 'nonsense', newHwid()),
      await login(app, '🦊'.repeat(128), newHwid()),
      await login(app, 'a\u0000b', newHwid()),
    ];
    for (const response of responses) {
      expectError(response, 404, 'LICENSE_NOT_FOUND');
      expect(comparable(response)).toEqual(comparable(responses[0]!));
    }
    expect(await usersOf(app)).toBe(0);
  });

  test.each(['banned', 'paused'])('LICENSE_UNUSABLE for a %s key, in use or not', async (status) => {
    const app = await newApp(api);
    const [unused, redeemed] = [await newKey(app), await newKey(app)];
    const hwid = newHwid();
    await login(app, redeemed, hwid);
    const database = await connectTo(databaseUrl);
    await database.query('update licenses set status = $1 where app_id = $2', [status, app.app_id]);
    expectError(await login(app, unused, newHwid()), 400, 'LICENSE_UNUSABLE');
    expectError(await login(app, redeemed, hwid), 400, 'LICENSE_UNUSABLE');
  });
});

describe('the application', () => {
  test('APPLICATION_PAUSED, and the key is not spent', async () => {
    const app = await newApp(api);
    const [unused, redeemed] = [await newKey(app), await newKey(app)];
    const hwid = newHwid();
    await login(app, redeemed, hwid);
    await app.patch({ paused: true });
    expectError(await login(app, unused, newHwid()), 403, 'APPLICATION_PAUSED');
    expectError(await login(app, redeemed, hwid), 403, 'APPLICATION_PAUSED');
    expectError(await login(app, 'nonsense', hwid), 403, 'APPLICATION_PAUSED');
    await app.patch({ paused: false });
    expect((await login(app, unused, newHwid())).status).toBe(200);
  });

  test('APPLICATION_INACTIVE and INVALID_APP_CREDENTIALS', async () => {
    const app = await newApp(api);
    const key = await newKey(app);
    await app.patch({ status: 'disabled' });
    expectError(await login(app, key, newHwid()), 401, 'APPLICATION_INACTIVE');
    const absent = { ...app, app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c' };
    expectError(await login(absent, key, newHwid()), 401, 'INVALID_APP_CREDENTIALS');
  });

  test('SIGNATURE_REQUIRED if it requires signatures, with and without a nonce', async () => {
    const app = await newApp(api);
    await app.patch({ require_signatures: true });
    const license_key = await newKey(app);
    const request = { app_id: app.app_id, license_key, hwid: newHwid() };
    expectError(await api.loginWithLicense(request), 401, 'SIGNATURE_REQUIRED');
    expect(await usersOf(app)).toBe(0);
    const at = clock.now();
    expect((await api.loginWithLicense(...signed(app, request, { at }))).status).toBe(200);
    const again = signed(app, { ...request, nonce: newNonce() }, { at });
    expect((await api.loginWithLicense(...again)).status).toBe(200);
    expectError(await api.loginWithLicense(...again), 401, 'NONCE_REUSED');
  });
});

test('the response is signed, over the nonce if one was sent', async () => {
  const app = await newApp(api);
  const license_key = await newKey(app);
  const request = { app_id: app.app_id, license_key, hwid: newHwid() };
  const nonce = newNonce();
  const operation = 'loginWithLicense';
  for (const [sent, over] of [
    [request, ''],
    [{ ...request, nonce }, nonce],
  ] as const) {
    const { body } = await api.loginWithLicense(sent);
    const bound = { operation, body: JSON.stringify(sent) };
    expect(body.signature).toBe(boundSignatureOf(app, bound, over, body));
  }
  const both = signed(app, { ...request, nonce }, { at: clock.now() });
  const { body } = await api.loginWithLicense(...both);
  expect(body.signature).toBe(signatureOf(app, nonce, body));
});

test('a banned machine spends no key and creates no user', async () => {
  const app = await newApp(api);
  const key = await newKey(app);
  const hwid = newHwid();
  await ban(api, app, { kind: 'hardware', hwid });
  expectError(await login(app, key, hwid), 403, 'HWID_BANNED');
  expect(await usersOf(app)).toBe(0);
  expect((await login(app, key, newHwid())).status).toBe(200);
});

test('VALIDATION_FAILED lists every fault', async () => {
  const send = (body: object) => api.post('/api/v2/client/login-license', body);
  expectFaults(await send({}), '/app_id', '/license_key', '/hwid');
  expectFaults(
    await send({ app_id: 1, license_key: [], hwid: null, nonce: 'short' }),
    '/app_id',
    '/license_key',
    '/hwid',
    '/nonce',
  );
  const app = await newApp(api);
  expectFaults(await login(app, 'k'.repeat(129), 'h'.repeat(257)), '/license_key', '/hwid');
});
