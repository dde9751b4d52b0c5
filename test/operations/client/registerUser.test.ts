import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newHwid, newUser, unique, type App } from '../../support/fixtures.ts';
import { flood } from '../../support/hashing.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays, verifyWithNewSession } from '../support/journeys.ts';
import { limitPlan } from '../support/plans.ts';

const { api, clock, databaseUrl } = await startTestService({}, { hashing: 'each' });
const developer = await newDeveloper(api);
const app = await newApp(api, developer);

const account = (fields: object = {}) => ({
  username: unique('user'),
  password: 'a user password',
  hwid: newHwid(),
  ...fields,
});

const users = async ({ app_id, token }: App) =>
  (
    await api.call<components['schemas']['ApplicationResult']>(
      'GET',
      `/api/v2/dev/apps/${app_id}`,
      undefined,
      { token },
    )
  ).body.users;

const licenses = async ({ app_id, token }: App) =>
  (
    await api.call<components['schemas']['LicenseList']>(
      'GET',
      `/api/v2/dev/apps/${app_id}/licenses?limit=100`,
      undefined,
      { token },
    )
  ).body.data;

test('creates an account that can log in only on its machine', async () => {
  const user = account();
  const { status, body } = await api.register(app.with({ ...user, email: 'Ada@example.com' }));
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    message: expect.any(String),
    user_id: expect.stringMatching(/^usr_[0-9a-z]{26}$/),
  });
  const login = await api.login(app.with(user));
  expect(login.body.user).toEqual({
    id: body['user_id'],
    username: user.username,
    hwid: user.hwid,
    role: 'user',
  });
  expectError(await api.login(app.with({ ...user, hwid: newHwid() })), 403, 'HWID_MISMATCH');
});

test('ignores members that a client cannot set', async () => {
  const user = account();
  const injected = {
    role: 'admin',
    user_id: 'usr_1',
    tier: 'VIP',
    subscription_tier: 'VIP',
    hwid_digest: 'x',
  };
  expect((await api.post('/api/v1/client/register', app.with({ ...user, ...injected }))).status).toBe(201);
  expect((await api.login(app.with(user))).body.user).toMatchObject({ role: 'user' });
  expect(await verifyWithNewSession(api, app, user)).not.toHaveProperty('subscription_tier');
});

test('usernames are unique in an application, not between applications', async () => {
  const user = await newUser(api, app);
  expectError(await api.register(app.with(account({ username: user.username }))), 409, 'USERNAME_TAKEN');
  const other = await newApp(api, developer);
  expect((await api.register(other.with(account({ username: user.username })))).status).toBe(201);
  // The refused registration changed nothing about the account.
  expect((await api.login(app.with(user))).status).toBe(200);
});

describe('with a license key', () => {
  test('starts with the key’s subscription', async () => {
    const other = await newApp(api, developer);
    const [license_key] = await other.keys(1, 'Pro', 30);
    const user = account({ license_key });
    const { body } = await api.register(other.with(user));
    expect(await verifyWithNewSession(api, other, user)).toMatchObject({
      subscription_tier: 'Pro',
      subscription_status: 'active',
      subscription_expires_at: inDays(clock, 30),
    });
    expect((await licenses(other))[0]).toMatchObject({
      status: 'redeemed',
      redeemed_by: body['user_id'],
      redeemed_at: clock.now().toISOString(),
    });
  });

  test('USERNAME_TAKEN precedes errors of the key, and does not spend it', async () => {
    const other = await newApp(api, developer);
    const [fresh, used] = await other.keys(2);
    const { username } = await newUser(api, other);
    await api.activate(other.with({ username, license_key: used! }));
    for (const license_key of [fresh!, used!, 'nonsense']) {
      const response = await api.register(other.with(account({ username, license_key })));
      expectError(response, 409, 'USERNAME_TAKEN');
    }
    expect((await api.register(other.with(account({ license_key: fresh! })))).status).toBe(201);
  });

  test('a key that cannot be redeemed creates no account', async () => {
    const [own, stranger] = [await newApp(api, developer), await newApp(api, developer)];
    const [used, banned, paused] = await own.keys(3);
    const [foreign] = await stranger.keys(1);
    const late = await api.post<components['schemas']['CreateLicensesResult']>(
      `/api/v2/dev/apps/${own.app_id}/licenses`,
      { amount: 1, duration_days: 1, tier: 'Pro', redeem_by: inDays(clock, -1 / DAY) },
      { token: own.token },
    );
    await newUser(api, own, { license_key: used! } as object);
    const database = await connectTo(databaseUrl);
    for (const [state, key] of [
      ['banned', banned],
      ['paused', paused],
    ]) {
      const { license_id } = (await licenses(own)).find(({ license_key }) => license_key === key)!;
      await database.query('update licenses set status = $1 where license_id = $2', [state, license_id]);
    }
    const user = account();
    for (const [license_key, status, code] of [
      ['nonsense', 400, 'LICENSE_NOT_FOUND'],
      ['00000-00000-00000-00000-00000', 400, 'LICENSE_NOT_FOUND'],
      [foreign!, 400, 'LICENSE_NOT_FOUND'],
      [used!, 409, 'LICENSE_ALREADY_USED'],
      [banned!, 400, 'LICENSE_UNUSABLE'],
      [paused!, 400, 'LICENSE_UNUSABLE'],
      [late.body.licenses[0]!.license_key, 400, 'LICENSE_UNUSABLE'],
    ] as const) {
      expectError(await api.register(own.with({ ...user, license_key })), status, code);
    }
    expect(await users(own)).toBe(1);
    expectError(await api.login(own.with(user)), 401, 'INVALID_CREDENTIALS');
    expect((await licenses(stranger))[0]).toMatchObject({ status: 'unused', redeemed_by: null });
    expect((await api.register(own.with(user))).status).toBe(201);
  });

  test('concurrent registrations with one key create one account', async () => {
    const other = await newApp(api, developer);
    const [license_key] = await other.keys(1);
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => api.register(other.with(account({ license_key })))),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
    expect(await users(other)).toBe(1);
  });
});

test('concurrent registrations of one username create one account', async () => {
  const other = await newApp(api, developer);
  const responses = await Promise.all(
    ['ada', 'ADA', 'Ada', ' ada', 'aDa', 'adA', 'ａｄａ', 'ada '].map((username) =>
      api.register(other.with(account({ username }))),
    ),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  expect(await users(other)).toBe(1);
});

describe('QUOTA_EXCEEDED', () => {
  test('when the plan is full: neither an account nor a spent key', async () => {
    const own = await newDeveloper(api);
    const full = await newApp(api, own);
    await limitPlan(databaseUrl, own, { users: 1 });
    const [license_key] = await full.keys(1);
    await newUser(api, full);
    const user = account({ license_key });
    expectError(await api.register(full.with(user)), 403, 'QUOTA_EXCEEDED');
    expectError(await api.login(full.with(user)), 401, 'INVALID_CREDENTIALS');
    expect((await licenses(full))[0]).toMatchObject({ status: 'unused' });
    expect(await users(full)).toBe(1);
    // Seats count for each application.
    expect((await api.register((await newApp(api, own)).with(account()))).status).toBe(201);
  });

  test('is exact with concurrent registrations', async () => {
    const own = await newDeveloper(api);
    const full = await newApp(api, own);
    await limitPlan(databaseUrl, own, { users: 3 });
    const responses = await Promise.all(Array.from({ length: 8 }, () => api.register(full.with(account()))));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(await users(full)).toBe(3);
  });
});

test('works while the application is paused', async () => {
  const other = await newApp(api, developer);
  await other.patch({ status: 'paused' });
  expect((await api.register(other.with(account()))).status).toBe(201);
});

test('APPLICATION_INACTIVE and INVALID_APP_CREDENTIALS', async () => {
  const other = await newApp(api, developer);
  await other.patch({ status: 'disabled' });
  expectError(await api.register(other.with(account())), 401, 'APPLICATION_INACTIVE');
  const wrong = { app_id: app.app_id, secret: other.secret };
  expectError(await api.register({ ...account(), ...wrong }), 401, 'INVALID_APP_CREDENTIALS');
});

describe('usernames', async () => {
  const own = await newApp(api, developer);

  test.each([
    ['case', 'Ada Lovelace', 'ADA LOVELACE'],
    ['full width', 'grace', 'ｇｒａｃｅ'],
    ['sharp s', 'Straße', 'STRASSE'],
    ['capital sharp s', 'GROẞ', 'gross'],
    ['final sigma', 'Οδυσσεύς', 'ΟΔΥΣΣΕΎΣ'],
    ['composition', 'Ångström', 'A\u030angstro\u0308m'],
    ['the Ångström sign', '\u212bsa', 'åsa'],
    ['ligatures', 'ﬁnch', 'finch'],
    ['the Kelvin sign', '\u212aelvin', 'kelvin'],
    ['titlecase digraphs', 'ǅemal', 'ǆemal'],
    ['Cherokee', 'Ꭰ', '\uab70'],
    ['white space at the ends', 'turing', '\u2003 turing\u3000'],
    ['white space inside', 'alan turing', 'alan\u00a0turing'],
    ['ypogegrammeni', 'ᾳ', 'ΑΙ'],
  ])('are the same account after normalization: %s', async (_what, first, second) => {
    const user = account({ username: first });
    expect((await api.register(own.with(user))).status).toBe(201);
    expectError(await api.register(own.with(account({ username: second }))), 409, 'USERNAME_TAKEN');
    const { body } = await api.login(own.with({ ...user, username: second }));
    expect(body.user).toMatchObject({ username: first });
    const verified = await api.verify({ app_id: own.app_id, token: body.token });
    expect(verified.body.username).toBe(first);
  });

  test.each([
    ['a dotless i', 'irmak', 'ırmak'],
    ['digits and letters', 'curie1', 'curiel'],
    ['letters of one alphabet', 'сухбат', 'сүхбат'],
    ['an accent', 'jose', 'josé'],
    ['a space', 'rosalind', 'rosa lind'],
    ['percent-encoding', 'a b c', 'a%20b%20c'],
  ])('are two accounts: %s', async (_what, first, second) => {
    expect((await api.register(own.with(account({ username: first })))).status).toBe(201);
    expect((await api.register(own.with(account({ username: second })))).status).toBe(201);
  });

  test.each([
    ['a Cyrillic letter', 'pascal', 'pаscal'],
    ['Cyrillic capitals', 'bob', 'ВОВ'],
    ['a Latin letter among Cyrillic ones', 'Вернадский', 'Вepнaдский'],
    ['white space', 'emmy noether', 'emmy  noether'],
    ['phonetic notation', 'galois', 'ɡalois'],
    ['a dotted capital I', 'ilker', 'İlker'],
  ])('are refused when they look like that of another user: %s', async (_what, first, second) => {
    const user = account({ username: first });
    expect((await api.register(own.with(user))).status).toBe(201);
    expectError(await api.register(own.with(account({ username: second }))), 409, 'USERNAME_TAKEN');
    // No user has this name: a look-alike reaches no account.
    expectError(await api.login(own.with({ ...user, username: second })), 401, 'INVALID_CREDENTIALS');
  });

  test('concurrent registrations of look-alikes create one account', async () => {
    const app = await newApp(api, developer);
    const names = ['admin', 'аdmin', 'admіn', 'аdmіn', 'ɑdmin', 'admin'];
    const responses = await Promise.all(
      names.map((username) => api.register(app.with(account({ username })))),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  test.each([
    'Ada 🦊 ',
    ' \ttab'.slice(0, 1) + 'x',
    '𝒜𝒹𝒶',
    'عائشة',
    'तारा',
    "o'neil; drop--",
    '<b>',
    '\\u0041',
    'null',
  ])('are returned exactly: %j', async (username) => {
    const user = account({ username });
    expect((await api.register(own.with(user))).status).toBe(201);
    expect((await api.login(own.with(user))).body.user).toMatchObject({ username });
  });

  test.each([
    ['NUL', 'a\u0000b'],
    ['a control', 'a\u0007b'],
    ['a tab', 'a\tb'],
    ['a line break', 'a\nb'],
    ['DEL', 'a\u007fb'],
    ['C1', 'a\u0085b'],
    ['a soft hyphen', 'a\u00adb'],
    ['a zero-width space', 'a\u200bb'],
    ['a zero-width joiner', 'a\u200db'],
    ['a left-to-right mark', 'a\u200eb'],
    ['an Arabic letter mark', 'a\u061cb'],
    ['a line separator', 'a\u2028b'],
    ['a right-to-left override', 'a\u202eb'],
    ['an isolate', 'a\u2066b'],
    ['a word joiner', 'a\u2060b'],
    ['a byte order mark', '\ufeffada'],
    ['a combining grapheme joiner', 'a\u034fb'],
    ['a variation selector', 'a\ufe0fb'],
    ['a Hangul filler', 'a\u3164b'],
    ['a tag character', 'a\u{e0041}b'],
    ['private use', 'a\ue000b'],
    ['a noncharacter', 'a\ufffeb'],
    ['an unassigned one', 'a\u0378b'],
    ['an object replacement character', 'admin\ufffc', 401],
    ['a replacement character', 'adm\ufffdn', 401],
    ['a Braille blank', 'admin\u2800', 401],
    ['a Braille blank alone', '\u2800', 401],
    ['a note without a shape', 'admin\u{1d159}', 401],
    ['a mark alone', '\u0301', 401],
    ['nothing', ''],
    ['white space only', ' \u3000\u00a0'],
    ['65 characters', 'a'.repeat(65)],
    ['more than 64 after normalization', 'ß'.repeat(33)],
    ['far more than 64 after normalization', 'ﷺ'.repeat(64)],
  ] as [string, string, number?][])('are refused with %s', async (_what, username, atLogin = 400) => {
    expectFaults(await api.register(own.with(account({ username }))), '/username');
    const login = await api.login(own.with(account({ username })));
    // A name that older versions accepted is looked up.
    if (atLogin === 401) expectError(login, 401, 'INVALID_CREDENTIALS');
    else expectFaults(login, '/username');
  });

  test.each(['\\ud800', '\\udc00\\ud800', 'ok\\udfff'])(
    'are refused with the lone surrogate %s',
    async (escape) => {
      const body = JSON.stringify(own.with(account({ username: 'NAME' }))).replace('NAME', escape);
      expectError(await api.post('/api/v1/client/register', body), 400, 'MALFORMED_JSON');
    },
  );

  test.each([
    ['letters', 'a'.repeat(64)],
    ['characters outside the BMP', '🦊'.repeat(64)],
    ['characters that normalize to fewer', 'e\u0301'.repeat(32)],
  ])('have up to 64 characters: %s', async (_what, username) => {
    expect((await api.register(own.with(account({ username })))).status).toBe(201);
  });
});

describe('passwords', () => {
  test.each(['1234567', 'p'.repeat(129), '', 12345678])('are refused: %j', async (password) => {
    const response = await api.post('/api/v1/client/register', app.with(account({ password })));
    expectFaults(response, '/password');
  });

  test.each([
    ['8 characters', '12345678'],
    ['spaces', '        '],
    ['128 characters outside the BMP', '🔑'.repeat(128)],
    ['NUL', 'before\u0000after'],
    ['controls', 'line\nfeed\u202etab\t'],
  ])('count whole: %s', async (_what, password) => {
    const user = account({ password });
    expect((await api.register(app.with(user))).status).toBe(201);
    expect((await api.login(app.with(user))).status).toBe(200);
    const cut = [...password].slice(0, -1).join('');
    expectError(await api.login(app.with({ ...user, password: cut })), 401, 'INVALID_CREDENTIALS');
    const beforeNul = password.split('\0', 1)[0]!;
    if (beforeNul === password) return;
    expectError(await api.login(app.with({ ...user, password: beforeNul })), 401, 'INVALID_CREDENTIALS');
  });
});

test('hardware identifiers have 1 to 256 printable characters, which all count', async () => {
  for (const hwid of [
    '',
    'h'.repeat(257),
    'a\u0000',
    'a\nb',
    'a\u200bb',
    'a\ufffdb',
    '\u2800',
    ' ',
    'a\ufffc',
  ]) {
    expectFaults(await api.register(app.with(account({ hwid }))), '/hwid');
  }
  const user = account({ hwid: 'h'.repeat(256) });
  expect((await api.register(app.with(user))).status).toBe(201);
  expectError(await api.login(app.with({ ...user, hwid: 'h'.repeat(255) })), 403, 'HWID_MISMATCH');
  expectError(await api.login(app.with({ ...user, hwid: `${'h'.repeat(255)}H` })), 403, 'HWID_MISMATCH');
});

test('VALIDATION_FAILED lists every fault', async () => {
  const response = await api.post('/api/v1/client/register', { email: 'unknown', license_key: '' });
  expectFaults(
    response,
    ...['app_id', 'secret', 'username', 'password', 'hwid', 'email', 'license_key'].map((name) => `/${name}`),
  );
});

test('TOO_MANY_REQUESTS with Retry-After when too many hashes are waiting, and nothing is created', async () => {
  const other = await newApp(api, developer);
  const { atOnce, later } = await flood(23, () => api.register(other.with(account())));
  for (const { status } of later) expect(status).toBe(201);
  for (const response of atOnce) {
    expectError(response, 429, 'TOO_MANY_REQUESTS');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
  expect(await users(other)).toBe(later.length);
});
