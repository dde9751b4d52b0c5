import { describe, expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { ban, newApp, newDeveloper, newHwid, newUser, type App } from '../../support/fixtures.ts';
import { whileUserIsHeld } from '../../support/held-user.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { inDays, verifyWithNewSession } from '../support/journeys.ts';
import { licensesOf, redeemed, scoped, type CreatedLicense } from '../support/licenses.ts';

const { api, clock, databaseUrl } = await startTestService();
const ids = (licenses: readonly { license_id: string }[]) => licenses.map(({ license_id }) => license_id);
const LIFETIME = '9999-12-31T23:59:59.999Z';

/** The end of each tier of a user in the database. */
async function endsOf(app: App, username: string): Promise<Record<string, string>> {
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ tier: string; ends_at: Date }>(
    `select tier, ends_at from subscriptions join users using (user_id) where app_id = $1 and username = $2`,
    [app.app_id, username],
  );
  return Object.fromEntries(rows.map(({ tier, ends_at }) => [tier, ends_at.toISOString()]));
}

describe('keys that are not redeemed', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);

  test('get the days, even if paused, unless they are lifetimes, banned or at the limit', async () => {
    const [first, paused, banned] = (await licenses.create(3)) as [
      CreatedLicense,
      CreatedLicense,
      CreatedLicense,
    ];
    const [lifetime] = await licenses.create(1, { duration_days: null });
    const [long] = await licenses.create(1, { duration_days: 36_500 });
    const [bystander] = await licenses.create(1);
    await licenses.pause(paused.license_id);
    await licenses.ban(banned.license_id);
    const license_ids = ids([first, paused, banned, lifetime!, long!]);
    const { status, body } = await licenses.extend({ days: 7, license_ids });
    expect({ status, body }).toEqual({
      status: 200,
      body: { status: 'success', licenses: 2, users: 0, left: 3 },
    });
    const { data } = (await licenses.list()).body;
    const days = new Map(data.map(({ license_id, duration_days }) => [license_id, duration_days]));
    expect([...license_ids, bystander!.license_id].map((id) => days.get(id))).toEqual([
      37,
      37,
      30,
      null,
      36_500,
      30,
    ]);
  });

  test('are extended once when they are named twice', async () => {
    const [made] = await licenses.create(1);
    const { license_id } = made!;
    const { body } = await licenses.extend({ days: 1, license_ids: [license_id, license_id] });
    expect(body).toMatchObject({ licenses: 1, left: 0 });
    expect((await licenses.get(license_id)).body.license.duration_days).toBe(31);
  });
});

describe('keys that were redeemed', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);

  test('extend the subscription of their holder in that tier, and do not change', async () => {
    const { license_id, user } = await redeemed(api, app);
    const { body } = await licenses.extend({ days: 7, license_ids: [license_id] });
    expect(body).toEqual({ status: 'success', licenses: 0, users: 1, left: 0 });
    expect(await endsOf(app, user.username)).toEqual({ Pro: inDays(clock, 37) });
    expect((await licenses.get(license_id)).body.license.duration_days).toBe(30);
  });

  test('of one user extend each of the user’s tiers once', async () => {
    const { license_id, user } = await redeemed(api, app);
    const more = [
      ...(await licenses.create(2, { tier: 'Pro' })),
      ...(await licenses.create(1, { tier: 'VIP' })),
    ];
    for (const { license_key } of more)
      await api.activate(app.with({ username: user.username, license_key }));
    const { body } = await licenses.extend({ days: 7, license_ids: [license_id, ...ids(more)] });
    expect(body).toEqual({ status: 'success', licenses: 0, users: 1, left: 0 });
    expect(await endsOf(app, user.username)).toEqual({ VIP: inDays(clock, 37), Pro: inDays(clock, 37 + 97) });
  });

  test('do not change a lifetime, or a tier below a higher lifetime', async () => {
    const { license_id, user } = await redeemed(api, app, { duration_days: null });
    const { body } = await licenses.extend({ days: 7, license_ids: [license_id] });
    expect(body).toEqual({ status: 'success', licenses: 0, users: 0, left: 1 });
    expect(await endsOf(app, user.username)).toEqual({ Pro: LIFETIME });
  });

  test('extend no subscription when they are banned', async () => {
    const { license_id, user } = await redeemed(api, app);
    await licenses.ban(license_id);
    expect((await licenses.extend({ days: 7, license_ids: [license_id] })).body).toMatchObject({
      users: 0,
      left: 1,
    });
    expect(await endsOf(app, user.username)).toEqual({ Pro: inDays(clock, 30) });
  });

  test('extend subscriptions of a paused application, which resume later', async () => {
    const own = await newApp(api);
    const { license_id, user } = await redeemed(api, own);
    await own.patch({ paused: true });
    clock.advance(DAY / 2);
    expect((await licensesOf(api, own).extend({ days: 7, license_ids: [license_id] })).body.users).toBe(1);
    await own.patch({ paused: false });
    expect((await verifyWithNewSession(api, own, user)).subscription_tier).toBe('Pro');
    clock.advance(-DAY / 2);
    expect(await endsOf(own, user.username)).toEqual({ Pro: inDays(clock, 37) });
  });
});

test('a subscription that has ended is extended only if its key is named, and then starts again', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { license_id, user } = await redeemed(api, app, { duration_days: 1 });
  clock.advance(2 * DAY);
  const { email, password } = developer;
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  const licenses = licensesOf(api, { ...app, token: body.token });
  expect((await licenses.extend({ days: 7, all: true })).body).toMatchObject({ users: 0, left: 1 });
  expect((await verifyWithNewSession(api, app, user)).subscription_status).toBe('expired');
  const license_ids = [license_id];
  expect((await licenses.extend({ days: 7, license_ids })).body).toMatchObject({ users: 1, left: 0 });
  expect(await endsOf(app, user.username)).toEqual({ Pro: inDays(clock, 7) });
  clock.advance(-2 * DAY);
});

describe('all', () => {
  test('are those of the application, with tier those of one', async () => {
    const [app, sibling] = [await newApp(api), await newApp(api)];
    const licenses = licensesOf(api, app);
    await licensesOf(api, sibling).create(1);
    await licenses.create(2, { tier: 'Standard' });
    await licenses.create(3, { tier: 'Pro' });
    const { user } = await redeemed(api, app);
    const other = await redeemed(api, app, { tier: 'Standard' });
    const pro = await licenses.extend({ days: 1, all: true, tier: 'Pro' });
    expect(pro.body).toEqual({ status: 'success', licenses: 3, users: 1, left: 0 });
    const all = await licenses.extend({ days: 2, all: true });
    expect(all.body).toEqual({ status: 'success', licenses: 5, users: 2, left: 0 });
    expect(await endsOf(app, user.username)).toEqual({ Pro: inDays(clock, 33) });
    expect(await endsOf(app, other.user.username)).toEqual({ Standard: inDays(clock, 32) });
    expect((await licensesOf(api, sibling).list()).body.data[0]!.duration_days).toBe(30);
  });

  test('10,000 keys and 3,000 users in one call, with an event for each user', async () => {
    const app = await newApp(api);
    const licenses = licensesOf(api, app);
    const made = await licenses.create(10_000);
    const owner = await newUser(api, app);
    const database = await connectTo(databaseUrl);
    await database.query(
      `insert into users (user_id, app_id, username, username_key, created_at)
       select u.user_id || n, u.app_id, u.username || n, u.username_key || n, u.created_at
       from users u, generate_series(1, 3000) n where u.app_id = $1 and u.username = $2`,
      [app.app_id, owner.username],
    );
    await database.query(
      `with numbered as (
           select l.license_id, u.user_id || row_number() over () as user_id
           from licenses l join users u using (app_id) where app_id = $1 and u.username = $3 limit 3000),
         held as (
           update licenses l set status = 'redeemed', redeemed_by = numbered.user_id, redeemed_at = $2
           from numbered where l.license_id = numbered.license_id returning numbered.user_id)
       insert into subscriptions
       select user_id, 'Pro', $2::timestamptz, $2::timestamptz + interval '30 days' from held`,
      [app.app_id, clock.now(), owner.username],
    );
    const { status, body } = await licenses.extend({ days: 5, license_ids: ids(made) });
    expect({ status, body }).toEqual({
      status: 200,
      body: { status: 'success', licenses: 7000, users: 3000, left: 0 },
    });
    const { rows } = await database.query<{ ends: Date; count: number }>(
      `select ends_at as ends, count(*)::int from subscriptions join users using (user_id)
       where app_id = $1 group by 1`,
      [app.app_id],
    );
    expect(rows).toEqual([{ ends: new Date(inDays(clock, 35)), count: 3000 }]);
    const events = await database.query(
      `select 1 from events where app_id = $1 and type = 'user.subscription_extended'`,
      [app.app_id],
    );
    expect(events.rowCount).toBe(3000);
  });
});

test('LICENSE_NOT_FOUND if one is absent or another application’s, and nothing is extended', async () => {
  const [app, sibling] = [await newApp(api), await newApp(api)];
  const [own] = await licensesOf(api, app).create(1);
  const [foreign] = await licensesOf(api, sibling).create(1);
  for (const wrong of [foreign!.license_id, 'lic_01kazm8e3rfxkb0a6t2d5v9j1m', 'nonsense', own!.license_key]) {
    const license_ids = [own!.license_id, wrong];
    expectError(await licensesOf(api, app).extend({ days: 1, license_ids }), 404, 'LICENSE_NOT_FOUND');
  }
  expect((await licensesOf(api, app).get(own!.license_id)).body.license.duration_days).toBe(30);
  expect((await licensesOf(api, sibling).get(foreign!.license_id)).body.license.duration_days).toBe(30);
});

describe('VALIDATION_FAILED', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [made] = await licenses.create(1);
  const license_ids = [made!.license_id];

  test.each<[string, unknown[]]>([
    ['days', [0, -1, 36_501, 1.5, '7', null, undefined, 2 ** 31, 2 ** 53]],
    ['license_ids', [[], 'x', null, {}, Array(10_001).fill('l')]],
  ])('for %s', async (member, values) => {
    const valid = { days: 7, license_ids };
    for (const value of values)
      expectFaults(await licenses.extend({ ...valid, [member]: value }), `/${member}`);
    expect((await licenses.get(made!.license_id)).body.license.duration_days).toBe(30);
  });

  test('unless the request has either ids or all', async () => {
    expectFaults(await licenses.extend({ days: 7 }), '/license_ids');
    expectFaults(await licenses.extend({ days: 7, license_ids, all: true }), '/all');
    expectFaults(await licenses.extend({ days: 7, license_ids, tier: 'Pro' }), '/tier');
    expectFaults(await licenses.extend({ days: 7, all: false }), '/all');
    expectFaults(await licenses.extend({ days: 7, license_ids: [''] }), '/license_ids/0');
  });

  test('PAYLOAD_TOO_LARGE above 1 MiB', async () => {
    const response = await licenses.extend({ days: 7, license_ids: ['l'.repeat(1_100_000)] });
    expectError(response, 413, 'PAYLOAD_TOO_LARGE');
  });
});

describe('while a holder is locked', () => {
  /** Extends a key of 30 days and its holder by 7, and does something else while the holder is locked. */
  async function extendDuring(app: App, happening: () => Promise<unknown>) {
    const { license_id, user } = await redeemed(api, app);
    const extending = () => licensesOf(api, app).extend({ days: 7, license_ids: [license_id] });
    return { response: await whileUserIsHeld(databaseUrl, app, user.username, extending, happening), user };
  }

  test('a pause of the application does not wait, and has the same effect as after it', async () => {
    const app = await newApp(api);
    const { response, user } = await extendDuring(app, async () => {
      await app.patch({ paused: true });
      clock.advance(60_000);
    });
    expect(response.body).toMatchObject({ users: 1, left: 0 });
    expect(await endsOf(app, user.username)).toEqual({ Pro: inDays(clock, 37 - 60_000 / DAY) });
  });

  test('bans of machines and logins of others do not wait', async () => {
    const app = await newApp(api);
    const other = await newUser(api, app);
    const { response } = await extendDuring(app, async () => {
      await ban(api, app, { kind: 'hardware', hwid: newHwid() });
      expect((await api.login(app.with(other))).status).toBe(200);
    });
    expect(response.body).toMatchObject({ users: 1 });
  });

  test('its end does not wait for a change that locks the application', async () => {
    const app = await newApp(api);
    const change = await connectTo(databaseUrl);
    const { response } = await extendDuring(app, async () => {
      await change.query('begin');
      await change.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [app.app_id]);
    });
    expect(response.body).toMatchObject({ users: 1 });
    await change.query('rollback');
  });

  test('APPLICATION_NOT_FOUND when the application is deleted, and nothing is extended', async () => {
    const app = await newApp(api);
    const { response, user } = await extendDuring(app, () =>
      api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token }),
    );
    expectError(response, 404, 'APPLICATION_NOT_FOUND');
    expect(await endsOf(app, user.username)).toEqual({ Pro: inDays(clock, 30) });
  });
});

test('an Idempotency-Key extends once', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const { license_id, user } = await redeemed(api, app);
  const headers = { 'idempotency-key': license_id };
  const body = { days: 7, license_ids: [license_id] };
  const responses = await Promise.all(Array.from({ length: 10 }, () => licenses.extend(body, headers)));
  for (const response of responses.filter(({ status }) => status !== 200))
    expectError(response, 409, 'IDEMPOTENCY_KEY_IN_USE');
  expect((await licenses.extend(body, headers)).body.users).toBe(1);
  expect(await endsOf(app, user.username)).toEqual({ Pro: inDays(clock, 37) });
});

test('concurrent requests add up or fail at once with TOO_MANY_REQUESTS', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [made] = await licenses.create(1);
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => licenses.extend({ days: 1, all: true })),
  );
  const refused = responses.filter(({ status }) => status !== 200);
  for (const response of refused) expectError(response, 429, 'TOO_MANY_REQUESTS');
  const days = (await licenses.get(made!.license_id)).body.license.duration_days;
  expect(days).toBe(30 + responses.length - refused.length);
});

test("another developer's application counts as absent, and the token must have the scope write", async () => {
  const app = await newApp(api);
  const [made] = await licensesOf(api, app).create(1);
  const { token } = await newDeveloper(api);
  for (const body of [{ days: 7, all: true }, { days: 7 }, { days: 7, license_ids: [made!.license_id] }]) {
    const foreign = await licensesOf(api, { app_id: app.app_id, token }).extend(body);
    const absent = await licensesOf(api, { app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token }).extend(body);
    expectError(absent, 404, 'APPLICATION_NOT_FOUND');
    expect(comparable(foreign)).toEqual(comparable(absent));
  }
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.extend({ days: 7, all: true }), 403, 'INSUFFICIENT_SCOPE');
});
