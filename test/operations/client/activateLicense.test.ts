import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newUser, type App, type User } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays, patchWithNewToken, verifyWithNewSession } from '../support/journeys.ts';

const { api, clock, databaseUrl } = await startTestService();
const LIFETIME = '9999-12-31T23:59:59.999Z';

const redeem = (app: App, user: User, license_key: string | undefined) =>
  api.activate(app.with({ username: user.username, license_key: license_key! }));

/** The tier and end that a key of the application gives: `[tier, end]`. */
async function gain(app: App, user: User, key: string | undefined) {
  const { status, body } = await redeem(app, user, key);
  expect(status).toBe(200);
  return [body.subscription_tier, body.expires_at];
}

/** The tier in force and its end; `expired` or undefined without one. */
async function inForce(app: App, user: User) {
  const body = await verifyWithNewSession(api, app, user);
  return body.subscription_status === 'active'
    ? [body.subscription_tier, body.subscription_expires_at]
    : body.subscription_status;
}

async function stateOf(app: App, key: string | undefined) {
  const { body } = await api.call<components['schemas']['LicenseList']>(
    'GET',
    `/api/v2/dev/apps/${app.app_id}/licenses?limit=100`,
    undefined,
    { token: app.token },
  );
  return body.data.find(({ license_key }) => license_key === key)!;
}

test('spends the key and returns the tier and end that it gave', async () => {
  const app = await newApp(api);
  const [key] = await app.keys(1, 'Pro', 30);
  const user = await newUser(api, app);
  const { status, body } = await redeem(app, user, key);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    message: expect.any(String),
    subscription_tier: 'Pro',
    expires_at: inDays(clock, 30),
  });
  expect(await stateOf(app, key)).toMatchObject({
    status: 'redeemed',
    redeemed_at: clock.now().toISOString(),
    redeemed_by: expect.stringMatching(/^usr_/),
  });
});

describe('stacking', () => {
  test('the same tier is extended from its end', async () => {
    const app = await newApp(api);
    const keys = await app.keys(2, 'Standard', 30);
    const user = await newUser(api, app);
    await gain(app, user, keys[0]);
    clock.advance(10 * DAY);
    expect(await gain(app, user, keys[1])).toEqual(['Standard', inDays(clock, 50)]);
    expect(await inForce(app, user)).toEqual(['Standard', inDays(clock, 50)]);
  });

  test('the same tier is extended from now when it has ended', async () => {
    const app = await newApp(api);
    const keys = await app.keys(2, 'Standard', 30);
    const user = await newUser(api, app);
    await gain(app, user, keys[0]);
    clock.advance(31 * DAY);
    expect(await inForce(app, user)).toBe('expired');
    expect(await gain(app, user, keys[1])).toEqual(['Standard', inDays(clock, 30)]);
  });

  test('at its exact end it starts again, without a gap or extra time', async () => {
    const app = await newApp(api);
    const keys = await app.keys(2, 'Standard', 1);
    const user = await newUser(api, app);
    await gain(app, user, keys[0]);
    clock.advance(DAY);
    expect(await gain(app, user, keys[1])).toEqual(['Standard', inDays(clock, 1)]);
  });

  test('a higher tier starts now and the rest of the lower one resumes', async () => {
    const app = await newApp(api);
    const [standard] = await app.keys(1, 'Standard', 30);
    const [pro] = await app.keys(1, 'Pro', 30);
    const user = await newUser(api, app);
    await gain(app, user, standard);
    clock.advance(10 * DAY);
    expect(await gain(app, user, pro)).toEqual(['Pro', inDays(clock, 30)]);
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 30)]);
    clock.advance(30 * DAY - 1);
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 1 / DAY)]);
    clock.advance(1);
    expect(await inForce(app, user)).toEqual(['Standard', inDays(clock, 20)]);
    clock.advance(20 * DAY - 1);
    expect(await inForce(app, user)).toEqual(['Standard', inDays(clock, 1 / DAY)]);
    clock.advance(1);
    expect(await inForce(app, user)).toBe('expired');
  });

  test('a lower tier starts after the higher one', async () => {
    const app = await newApp(api);
    const [pro] = await app.keys(1, 'Pro', 30);
    const [standard] = await app.keys(1, 'Standard', 10);
    const user = await newUser(api, app);
    await gain(app, user, pro);
    clock.advance(5 * DAY);
    expect(await gain(app, user, standard)).toEqual(['Standard', inDays(clock, 35)]);
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 25)]);
    clock.advance(25 * DAY);
    expect(await inForce(app, user)).toEqual(['Standard', inDays(clock, 10)]);
  });

  test('three tiers in any order add up, and each key moves the tiers after it', async () => {
    const app = await newApp(api);
    const keys = {
      Standard: await app.keys(2, 'Standard', 3),
      Pro: await app.keys(2, 'Pro', 5),
      VIP: await app.keys(1, 'VIP', 7),
    };
    const user = await newUser(api, app);
    expect(await gain(app, user, keys.Pro[0])).toEqual(['Pro', inDays(clock, 5)]);
    expect(await gain(app, user, keys.Standard[0])).toEqual(['Standard', inDays(clock, 8)]);
    expect(await gain(app, user, keys.VIP[0])).toEqual(['VIP', inDays(clock, 7)]);
    expect(await gain(app, user, keys.Pro[1])).toEqual(['Pro', inDays(clock, 17)]);
    expect(await gain(app, user, keys.Standard[1])).toEqual(['Standard', inDays(clock, 23)]);
    for (const [days, standing] of [
      [0, ['VIP', inDays(clock, 7)]],
      [7, ['Pro', inDays(clock, 17)]],
      [10, ['Standard', inDays(clock, 23)]],
      [6, 'expired'],
    ] as const) {
      clock.advance(days * DAY);
      expect(await inForce(app, user)).toEqual(standing);
    }
  });

  test("tiers rank by the application's own list", async () => {
    const app = await newApp(api);
    await app.patch({ tiers: ['Zinc', 'Bronze', 'Aluminium'] });
    const [zinc] = await app.keys(1, 'Zinc', 1);
    const [bronze] = await app.keys(1, 'Bronze', 1);
    const [aluminium] = await app.keys(1, 'Aluminium', 1);
    const user = await newUser(api, app);
    await gain(app, user, bronze);
    expect(await gain(app, user, zinc)).toEqual(['Zinc', inDays(clock, 2)]);
    expect(await gain(app, user, aluminium)).toEqual(['Aluminium', inDays(clock, 1)]);
    expect(await inForce(app, user)).toEqual(['Aluminium', inDays(clock, 1)]);
  });

  test('a key of a tier that was removed from the list still works, below all others', async () => {
    const app = await newApp(api);
    const [vip] = await app.keys(1, 'VIP', 1);
    const [standard] = await app.keys(1, 'Standard', 1);
    await app.patch({ tiers: ['Standard', 'Pro'] });
    const user = await newUser(api, app);
    await gain(app, user, vip);
    expect(await gain(app, user, standard)).toEqual(['Standard', inDays(clock, 1)]);
    expect(await inForce(app, user)).toEqual(['Standard', inDays(clock, 1)]);
  });
});

describe('lifetimes', () => {
  test('end with the year 9999 on the wire', async () => {
    const app = await newApp(api);
    const [key] = await app.keys(1, 'Pro', null);
    const user = await newUser(api, app);
    expect(await gain(app, user, key)).toEqual(['Pro', LIFETIME]);
    clock.advance(20_000 * DAY);
    expect(await inForce(app, user)).toEqual(['Pro', LIFETIME]);
  });

  test('refuse timed keys and lifetimes of their own tier and of lower ones, unspent', async () => {
    const app = await newApp(api);
    const [lifetime, second] = await app.keys(2, 'Pro', null);
    const refused = [
      second,
      ...(await app.keys(1, 'Pro', 30)),
      ...(await app.keys(1, 'Standard', 30)),
      ...(await app.keys(1, 'Standard', null)),
    ];
    const [user, friend] = [await newUser(api, app), await newUser(api, app)];
    await gain(app, user, lifetime);
    for (const key of refused) {
      expectError(await redeem(app, user, key), 400, 'LICENSE_NOT_APPLICABLE');
      expect(await stateOf(app, key)).toMatchObject({ status: 'unused', redeemed_by: null });
    }
    expect(await inForce(app, user)).toEqual(['Pro', LIFETIME]);
    expect((await redeem(app, friend, refused[1])).status).toBe(200);
  });

  test('are interrupted by a higher tier and resume', async () => {
    const app = await newApp(api);
    const [lifetime] = await app.keys(1, 'Standard', null);
    const [vip] = await app.keys(1, 'VIP', 30);
    const user = await newUser(api, app);
    await gain(app, user, lifetime);
    expect(await gain(app, user, vip)).toEqual(['VIP', inDays(clock, 30)]);
    clock.advance(30 * DAY);
    expect(await inForce(app, user)).toEqual(['Standard', LIFETIME]);
  });

  test('replace the rest of their own tier', async () => {
    const app = await newApp(api);
    const [timed] = await app.keys(1, 'Pro', 30);
    const [lifetime] = await app.keys(1, 'Pro', null);
    const user = await newUser(api, app);
    await gain(app, user, timed);
    expect(await gain(app, user, lifetime)).toEqual(['Pro', LIFETIME]);
    expect(await inForce(app, user)).toEqual(['Pro', LIFETIME]);
  });

  test('of a lower tier start after a timed higher one', async () => {
    const app = await newApp(api);
    const [pro] = await app.keys(1, 'Pro', 30);
    const [lifetime] = await app.keys(1, 'Standard', null);
    const user = await newUser(api, app);
    await gain(app, user, pro);
    expect(await gain(app, user, lifetime)).toEqual(['Standard', LIFETIME]);
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 30)]);
  });

  test('do not result from adding days', async () => {
    const app = await newApp(api);
    const keys = await app.keys(3, 'Pro', 36_500);
    const user = await newUser(api, app);
    for (const [index, key] of keys.entries()) {
      expect(await gain(app, user, key)).toEqual(['Pro', inDays(clock, 36_500 * (index + 1))]);
    }
  });
});

describe('pauses', () => {
  test('stop the subscription clock until the application resumes', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const [key, more] = await app.keys(2, 'Pro', 30);
    const user = await newUser(api, app);
    await gain(app, user, key);
    clock.advance(10 * DAY);
    const { body: session } = await api.login(app.with(user));
    await patchWithNewToken(api, developer, app, { status: 'paused' });
    clock.advance(DAY / 2);
    const during = await api.verify({ app_id: app.app_id, token: session.token });
    expect(during.body).toMatchObject({
      subscription_tier: 'Pro',
      subscription_status: 'active',
      subscription_expires_at: inDays(clock, 20),
    });
    clock.advance(99.5 * DAY);
    // A key that is redeemed during the pause extends the remaining time.
    expect(await gain(app, user, more)).toEqual(['Pro', inDays(clock, 50)]);
    clock.advance(DAY);
    await patchWithNewToken(api, developer, app, { status: 'active' });
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 50)]);
    clock.advance(50 * DAY - 1);
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 1 / DAY)]);
    clock.advance(1);
    expect(await inForce(app, user)).toBe('expired');
  });

  test('add up, also stop later tiers, and do not restart ended ones', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const [pro] = await app.keys(1, 'Pro', 2);
    const [standard, ended] = await app.keys(2, 'Standard', 2);
    const [user, other] = [await newUser(api, app), await newUser(api, app)];
    await gain(app, other, ended);
    clock.advance(2 * DAY);
    await gain(app, user, pro);
    await gain(app, user, standard);
    for (let pause = 0; pause < 3; pause++) {
      await patchWithNewToken(api, developer, app, { paused: true });
      clock.advance(7 * DAY);
      // Pausing a paused application changes nothing.
      await patchWithNewToken(api, developer, app, { status: 'paused' });
      clock.advance(3 * DAY);
      await patchWithNewToken(api, developer, app, { paused: false });
    }
    expect(await inForce(app, other)).toBe('expired');
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 2)]);
    clock.advance(2 * DAY);
    expect(await inForce(app, user)).toEqual(['Standard', inDays(clock, 2)]);
  });

  test('that end by disabling the application are also added', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const [key] = await app.keys(1, 'Pro', 10);
    const user = await newUser(api, app);
    await gain(app, user, key);
    await patchWithNewToken(api, developer, app, { status: 'paused' });
    clock.advance(5 * DAY);
    await patchWithNewToken(api, developer, app, { status: 'disabled' });
    clock.advance(3 * DAY);
    await patchWithNewToken(api, developer, app, { status: 'active' });
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 7)]);
  });

  test('do not change lifetimes', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const [key] = await app.keys(1, 'Pro', null);
    const user = await newUser(api, app);
    await patchWithNewToken(api, developer, app, { status: 'paused' });
    expect(await gain(app, user, key)).toEqual(['Pro', LIFETIME]);
    clock.advance(5 * DAY);
    await patchWithNewToken(api, developer, app, { status: 'active' });
    expect(await inForce(app, user)).toEqual(['Pro', LIFETIME]);
  });
});

describe('keys', () => {
  test('are accepted in any notation', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    // Enough that five have both a 0 and a 1.
    const keys = await app.keys(250);
    const ambiguous = keys.filter((key) => key.includes('0') && key.includes('1'));
    const [plain, lower, spaced, alike, mixed] = ambiguous as [string, string, string, string, string];
    for (const written of [
      plain.replaceAll('-', ''),
      lower.toLowerCase(),
      ` ${spaced.replaceAll('-', ' ')}\n`,
      alike.replaceAll('0', 'O').replaceAll('1', 'I'),
      mixed.toLowerCase().replaceAll('0', 'o').replace('1', 'l').replaceAll('-', '--'),
    ]) {
      expect((await redeem(app, user, written)).status, written).toBe(200);
      expectError(await redeem(app, user, written), 400, 'LICENSE_ALREADY_USED');
    }
  });

  test('LICENSE_NOT_FOUND for every key with one mistyped character, with one missing and one too many', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const [key] = await app.keys(1);
    const mistyped = [...key!].flatMap((character, at) =>
      character === '-' ? [] : [key!.slice(0, at) + (character === '7' ? '8' : '7') + key!.slice(at + 1)],
    );
    expect(mistyped).toHaveLength(25);
    for (const written of [...mistyped, key!.slice(1), `${key}0`, `U${key!.slice(1)}`, '-', `${key}\u0000`]) {
      expectError(await redeem(app, user, written), 404, 'LICENSE_NOT_FOUND');
    }
    expect((await redeem(app, user, key)).status).toBe(200);
  });

  test('LICENSE_NOT_FOUND for a key of another application, which stays unspent', async () => {
    const developer = await newDeveloper(api);
    const [app, other] = [await newApp(api, developer), await newApp(api, developer)];
    const [key] = await other.keys(1);
    expectError(await redeem(app, await newUser(api, app), key), 404, 'LICENSE_NOT_FOUND');
    expect((await redeem(other, await newUser(api, other), key)).status).toBe(200);
  });

  test('LICENSE_ALREADY_USED for the same user and for another one', async () => {
    const app = await newApp(api);
    const [user, friend] = [await newUser(api, app), await newUser(api, app)];
    const [key] = await app.keys(1, 'Pro', 30);
    await gain(app, user, key);
    expectError(await redeem(app, user, key), 400, 'LICENSE_ALREADY_USED');
    expectError(await redeem(app, friend, key), 400, 'LICENSE_ALREADY_USED');
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 30)]);
    expect(await inForce(app, friend)).toBeUndefined();
  });

  test.each(['banned', 'paused'])('LICENSE_UNUSABLE while %s', async (state) => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const [key] = await app.keys(1);
    const { license_id } = await stateOf(app, key);
    const database = await connectTo(databaseUrl);
    const set = (status: string) =>
      database.query('update licenses set status = $1 where license_id = $2', [status, license_id]);
    await set(state);
    expectError(await redeem(app, user, key), 400, 'LICENSE_UNUSABLE');
    await set('unused');
    expect((await redeem(app, user, key)).status).toBe(200);
  });

  test('LICENSE_UNUSABLE after redeem_by, not before', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const { body } = await api.post<components['schemas']['CreateLicensesResult']>(
      `/api/v2/dev/apps/${app.app_id}/licenses`,
      { amount: 2, duration_days: 1, tier: 'Pro', redeem_by: inDays(clock, 1) },
      { token: app.token },
    );
    const [timely, late] = body.licenses.map(({ license_key }) => license_key);
    clock.advance(DAY);
    expect((await redeem(app, user, timely)).status).toBe(200);
    clock.advance(1);
    expectError(await redeem(app, user, late), 400, 'LICENSE_UNUSABLE');
  });
});

describe('exactly once', () => {
  test('concurrent requests of several users redeem a key once', async () => {
    const app = await newApp(api);
    const [key] = await app.keys(1, 'Pro', 30);
    const users = [await newUser(api, app), await newUser(api, app), await newUser(api, app)];
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_each, index) => redeem(app, users[index % 3]!, key)),
    );
    const successes = responses.filter(({ status }) => status === 200);
    expect(successes).toHaveLength(1);
    for (const response of responses)
      if (response.status !== 200) expectError(response, 400, 'LICENSE_ALREADY_USED');
    const standings = await Promise.all(users.map((user) => inForce(app, user)));
    expect(standings.filter(Boolean)).toEqual([['Pro', inDays(clock, 30)]]);
  });

  test('concurrent requests with many keys for one user add every day', async () => {
    const app = await newApp(api);
    const keys = await app.keys(20, 'Pro', 3);
    const user = await newUser(api, app);
    const responses = await Promise.all(keys.map((key) => redeem(app, user, key)));
    expect(responses.map(({ status }) => status)).toEqual(keys.map(() => 200));
    expect(await inForce(app, user)).toEqual(['Pro', inDays(clock, 60)]);
  });
});

test('finds the user by every spelling of the name, and USER_NOT_FOUND spends no key', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app, { username: 'Ada' });
  const [first, second] = await app.keys(2);
  expectError(await redeem(app, { ...user, username: 'Bob' }, first), 404, 'USER_NOT_FOUND');
  expect((await redeem(app, { ...user, username: 'ａｄａ' }, first)).status).toBe(200);
  expectFaults(await redeem(app, { ...user, username: 'a\u202eb' }, second), '/username');
  expect(await stateOf(app, second)).toMatchObject({ status: 'unused' });
});

test('works while the application is paused; APPLICATION_INACTIVE and INVALID_APP_CREDENTIALS', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const keys = await app.keys(2);
  await app.patch({ status: 'paused' });
  expect((await redeem(app, user, keys[0])).status).toBe(200);
  await app.patch({ status: 'disabled' });
  expectError(await redeem(app, user, keys[1]), 401, 'APPLICATION_INACTIVE');
  const wrong = { app_id: app.app_id, secret: 'sk_wrong', username: user.username, license_key: keys[1]! };
  expectError(await api.activate(wrong), 401, 'INVALID_APP_CREDENTIALS');
});

test('VALIDATION_FAILED lists every fault', async () => {
  const activate = (body: object) => api.post('/api/v1/client/activate', body);
  const members = ['/app_id', '/secret', '/username', '/license_key'];
  expectFaults(await activate({}), ...members);
  expectFaults(
    await activate({ app_id: '', secret: 0, username: '', license_key: 'x'.repeat(129) }),
    ...members,
  );
});
