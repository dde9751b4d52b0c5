import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { newApp, newHwid, newNonce, newUser, unique, type App } from '../support/fixtures.ts';
import { patiently, shuffled, tally, type LightResponse } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses();
const { client, sql, services } = two;
const [{ api }] = services;

afterEach(async () => {
  await sql('update plans set max_users_per_app = 100000');
  // The database ends one of two deadlocked transactions, which the service would report.
  for (const { output } of services) expect(output().stderr).not.toMatch(/40P01|deadlock/);
});

const setSeats = (value: number) => sql('update plans set max_users_per_app = $1', [value]);

const loginWith = (
  turn: number,
  app: App,
  license_key: string,
  hwid: string,
  more: object = {},
): Promise<LightResponse> =>
  patiently(() =>
    turn % 4 < 2
      ? client(turn).post('/api/v2/client/login-license', { app_id: app.app_id, license_key, hwid, ...more })
      : client(turn).signed('login-license', app, { license_key, hwid, nonce: newNonce(), ...more }),
  );

/** The key as a user types it. */
const spelled = (key: string, n: number) =>
  [key, key.toLowerCase(), key.replaceAll('-', ''), ` ${key} `.replaceAll('-', ' ')][n % 4]!;

interface State {
  seats: number;
  users: number;
  redeemed: number;
  /** Keys of users who do not exist, and users without a key who could have come from a license login only. */
  orphans: number;
  live: number;
  days: number;
  subscribed: number;
}

/** Everything that logins of an application can create. */
async function state({ app_id }: App): Promise<State> {
  const [row] = await sql<{ [Name in keyof State]: string }>(
    `select u.users as seats,
       (select count(*) from users where app_id = $1) as users,
       (select count(*) from licenses where app_id = $1 and status = 'redeemed') as redeemed,
       (select count(*) from licenses where app_id = $1 and (status = 'redeemed') <> (redeemed_by is not null))
         + (select count(*) from users x where x.app_id = $1 and x.password_hash is null
              and not exists (select 1 from licenses l where l.redeemed_by = x.user_id)) as orphans,
       (select count(*) from sessions where app_id = $1 and ended_at is null) as live,
       (select coalesce(sum(extract(epoch from s.ends_at - s.starts_at)) / 86400, 0)
          from subscriptions s join users x using (user_id) where x.app_id = $1) as days,
       (select count(*) from subscriptions s join users x using (user_id) where x.app_id = $1) as subscribed
     from application_usage u where u.app_id = $1`,
    [app_id],
  );
  return Object.fromEntries(
    Object.entries(row!).map(([name, value]) => [name, Number(value)]),
  ) as unknown as State;
}

const NOTHING: State = { seats: 0, users: 0, redeemed: 0, orphans: 0, live: 0, days: 0, subscribed: 0 };
const ONE_KEY: State = { seats: 1, users: 1, redeemed: 1, orphans: 0, live: 1, days: 30, subscribed: 1 };

/** The tokens that both processes accept. */
async function validOf(app: App, responses: readonly LightResponse[]): Promise<string[]> {
  const valid: string[] = [];
  for (const { body } of responses.filter(({ status }) => status === 200)) {
    const token = String(body['token']);
    const statuses = await Promise.all(
      [0, 1].map(async (turn) => (await client(turn).verify({ app_id: app.app_id, token })).status),
    );
    expect(statuses[0], 'both processes agree').toBe(statuses[1]);
    if (statuses[0] === 200) valid.push(token);
  }
  return valid;
}

describe('50 logins at once over two processes with one new key', () => {
  test('from one machine: one user, one seat, one redemption, and every response is a session', async () => {
    for (let round = 0; round < 5; round += 1) {
      const app = await newApp(api);
      const [key] = await app.keys(1);
      const hwid = newHwid();
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, turn) => loginWith(turn, app, spelled(key!, turn), hwid)),
      );
      expect(tally(responses)).toEqual({ 200: 50 });
      expect(await state(app)).toEqual(ONE_KEY);
      // The machine has one session: the last one that was opened.
      expect(await validOf(app, responses)).toHaveLength(1);
    }
  });

  test('from 50 machines: one user, and one machine if hardware is locked', async () => {
    for (let round = 0; round < 5; round += 1) {
      const app = await newApp(api);
      const locked = round % 2 === 0;
      await app.patch({ hwid_lock: locked });
      const [key] = await app.keys(1);
      const hwids = Array.from({ length: 50 }, newHwid);
      const responses = await Promise.all(hwids.map((hwid, turn) => loginWith(turn, app, key!, hwid)));
      // Without the lock, a user of a key can use as many machines as any other user.
      expect(tally(responses)).toEqual(locked ? { 200: 1, '403 HWID_MISMATCH': 49 } : { 200: 50 });
      expect(await state(app)).toEqual({ ...ONE_KEY, live: locked ? 1 : 5 });
      const winner = hwids[responses.findIndex(({ status }) => status === 200)]!;
      expect((await loginWith(0, app, key!, winner)).status).toBe(200);
      if (locked) expect((await loginWith(1, app, key!, newHwid())).code).toBe('HWID_MISMATCH');
    }
  });

  test('race with registrations and activations of the same key: one gets it, and its days count once', async () => {
    const first = { login: 0, register: 0, activate: 0 };
    for (let round = 0; round < 12; round += 1) {
      const app = await newApp(api);
      const holder = await newUser(api, app);
      const hwid = newHwid();
      const [key] = await app.keys(1);
      const registering = () =>
        patiently(() =>
          client(round).register(
            app.with({ username: unique('racer'), password: 'a user password', hwid, license_key: key }),
          ),
        );
      const requests = [
        ...Array.from({ length: 10 }, (_, turn) => ({
          kind: 'login',
          send: () => loginWith(turn, app, key!, hwid),
        })),
        ...Array.from({ length: 5 }, () => ({ kind: 'register', send: registering })),
        ...Array.from({ length: 10 }, (_, turn) => ({
          kind: 'activate',
          send: () => client(turn).activate(app.with({ username: holder.username, license_key: key })),
        })),
      ] as const;
      const responses = await Promise.all(
        shuffled(requests).map(async ({ kind, send }) => {
          // A registration hashes a password before it redeems the key.
          if (kind !== 'register' && round % 2 === 0) await delay(randomInt(300));
          return { kind, response: await send() };
        }),
      );
      const won = (kind: string) =>
        responses.filter((each) => each.kind === kind && each.response.status < 300).length;
      const { seats, users, redeemed, orphans, days, subscribed } = await state(app);
      expect({ redeemed, orphans, days, subscribed, counted: seats === users }).toEqual({
        redeemed: 1, orphans: 0, days: 30, subscribed: 1, counted: true,
      }); // prettier-ignore
      const winners = { login: won('login'), register: won('register'), activate: won('activate') };
      if (winners.register === 1) {
        // A user who registered is bound to that machine, so the key logs them in there.
        expect(winners.activate).toBe(0);
        expect(users).toBe(2);
        first.register += 1;
      } else if (winners.activate === 1) {
        // The holder is bound to another machine.
        expect(winners).toEqual({ login: 0, register: 0, activate: 1 });
        expect(users).toBe(1);
        first.activate += 1;
      } else {
        expect(winners).toEqual({ login: 10, register: 0, activate: 0 });
        expect(users).toBe(2);
        first.login += 1;
      }
      const refusals = tally(
        responses.filter(({ response }) => response.status >= 300).map(({ response }) => response),
      );
      expect(
        Object.keys(refusals).filter(
          (kind) =>
            !['400 LICENSE_ALREADY_USED', '409 LICENSE_ALREADY_USED', '403 HWID_MISMATCH'].includes(kind),
        ),
      ).toEqual([]);
    }
    console.log(`the key went to ${JSON.stringify(first)}`);
  }, 120_000);
});

test('40 keys, 5 logins each, at once over two processes: as many users as the plan allows', async () => {
  const app = await newApp(api);
  const keys = await app.keys(40);
  await setSeats(9);
  const responses = await Promise.all(
    shuffled(keys.flatMap((key) => Array.from({ length: 5 }, () => key))).map(async (key, turn) => ({
      key,
      response: await loginWith(turn, app, key, `machine of ${key}`),
    })),
  );
  const inside = new Set(responses.filter(({ response }) => response.status === 200).map(({ key }) => key));
  expect(inside.size).toBe(9);
  const kinds = tally(responses.map(({ response }) => response));
  expect(Object.keys(kinds).toSorted()).toEqual(['200', '403 QUOTA_EXCEEDED']);
  const after = await state(app);
  expect(after).toEqual({ seats: 9, users: 9, redeemed: 9, orphans: 0, live: 9, days: 270, subscribed: 9 });
  // Existing users log in again. One more seat is one more user.
  for (const key of inside) expect((await loginWith(0, app, key, `machine of ${key}`)).status).toBe(200);
  await setSeats(10);
  const outside = keys.filter((key) => !inside.has(key));
  const again = await Promise.all(outside.map((key, turn) => loginWith(turn, app, key, `machine of ${key}`)));
  expect(tally(again)).toEqual({ 200: 1, '403 QUOTA_EXCEEDED': outside.length - 1 });
});

test('concurrent registrations and license logins share the quota exactly', async () => {
  const app = await newApp(api);
  const keys = await app.keys(20);
  await setSeats(11);
  const responses = await Promise.all(
    shuffled([
      ...keys.map((key, turn) => () => loginWith(turn, app, key, newHwid())),
      ...Array.from(
        { length: 20 },
        (_, turn) => () =>
          patiently(() =>
            client(turn).register(
              app.with({ username: unique('user'), password: 'a user password', hwid: newHwid() }),
            ),
          ),
      ),
    ]).map((send) => send()),
  );
  const { '200': byKey = 0, '201': byName = 0, ...refused } = tally(responses);
  expect(byKey + byName).toBe(11);
  expect(refused).toEqual({ '403 QUOTA_EXCEEDED': 29 });
  expect(await state(app)).toEqual({
    seats: 11, users: 11, redeemed: byKey, orphans: 0, live: byKey, days: byKey * 30, subscribed: byKey,
  }); // prettier-ignore
});

describe('a license login that fails leaves no trace', () => {
  interface Case {
    readonly name: string;
    readonly code: string;
    readonly prepare: (app: App) => Promise<unknown>;
  }
  const bans = ({ app_id }: App) => `/api/v2/dev/apps/${app_id}/bans`;
  const cases: readonly Case[] = [
    { name: 'no seats left in the plan', code: 'QUOTA_EXCEEDED', prepare: () => setSeats(0) },
    { name: 'paused', code: 'APPLICATION_PAUSED', prepare: (app) => app.patch({ paused: true }) },
    { name: 'disabled', code: 'APPLICATION_INACTIVE', prepare: (app) => app.patch({ status: 'disabled' }) },
    {
      name: 'a banned machine',
      code: 'HWID_BANNED',
      prepare: (app) => api.post(bans(app), { kind: 'hardware', hwid: 'the machine' }, app),
    },
    {
      name: 'a banned address',
      code: 'ADDRESS_BANNED',
      prepare: (app) => api.post(bans(app), { kind: 'network', network: '127.0.0.0/8' }, app),
    },
    {
      name: 'a paused key',
      code: 'LICENSE_UNUSABLE',
      prepare: ({ app_id }) => sql(`update licenses set status = 'paused' where app_id = $1`, [app_id]),
    },
    {
      name: 'a banned key',
      code: 'LICENSE_UNUSABLE',
      prepare: ({ app_id }) => sql(`update licenses set status = 'banned' where app_id = $1`, [app_id]),
    },
    {
      name: 'a late key',
      code: 'LICENSE_UNUSABLE',
      prepare: ({ app_id }) =>
        sql(`update licenses set redeem_by = now() - interval '1 second' where app_id = $1`, [app_id]),
    },
    {
      name: 'a deleted application',
      code: 'INVALID_APP_CREDENTIALS',
      prepare: (app) => api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app),
    },
  ];

  test.each(cases)('$name', async ({ code, prepare }) => {
    const app = await newApp(api);
    const [key] = await app.keys(1);
    await prepare(app);
    const responses = await Promise.all(
      Array.from({ length: 16 }, (_, turn) => loginWith(turn, app, key!, 'the machine')),
    );
    expect([...new Set(responses.map((response) => response.code))]).toEqual([code]);
    expect(await state(app)).toEqual(NOTHING);
  });

  test('a failure in the middle of it', async () => {
    const app = await newApp(api);
    const [key] = await app.keys(1);
    await sql(`alter table sessions add constraint broken check (app_id <> '${app.app_id}')`);
    const response = await loginWith(0, app, key!, 'the machine');
    await sql('alter table sessions drop constraint broken');
    expect(response.status).toBe(500);
    expect(await state(app)).toEqual(NOTHING);
    expect((await loginWith(1, app, key!, 'the machine')).status).toBe(200);
    expect(await state(app)).toEqual(ONE_KEY);
  });
});

test('all operations at once on the same users and keys over two processes: no deadlock, correct books', async () => {
  const app = await newApp(api);
  await app.patch({ hwid_lock: false, max_sessions: 3 });
  const owner = await newUser(api, app);
  const keys = await app.keys(30);
  const bans = `/api/v2/dev/apps/${app.app_id}/bans`;
  const hwid = newHwid();
  const tokens: string[] = [];
  const responses: LightResponse[] = [];
  const keep = (response: LightResponse) => {
    if (response.status === 200 && typeof response.body['token'] === 'string')
      tokens.push(response.body['token']);
    return response;
  };
  const { app_id } = app;
  const work: ((turn: number) => Promise<LightResponse>)[] = [
    async (turn) => keep(await loginWith(turn, app, keys[turn % keys.length]!, hwid)),
    async (turn) => keep(await loginWith(turn, app, keys[(turn * 7) % keys.length]!, newHwid())),
    async (turn) => keep(await client(turn).login(app.with({ ...owner, hwid: newHwid() }))),
    async (turn) => keep(await client(turn).signed('login', app, { ...owner, nonce: newNonce() })),
    (turn) =>
      client(turn).activate(
        app.with({ username: owner.username, license_key: keys[(turn * 3) % keys.length] }),
      ),
    (turn) =>
      client(turn).register(
        app.with({
          username: unique('u'),
          password: 'a user password',
          hwid,
          license_key: keys[(turn * 5) % keys.length],
        }),
      ),
    (turn) =>
      client(turn).post('/api/v2/client/logout', {
        app_id,
        session_token: tokens.at(-1 - (turn % 5)) ?? 'x',
      }),
    (turn) => client(turn).post('/api/v2/client/verify-session', { app_id, token: tokens.at(-1) ?? 'x' }),
    (turn) =>
      client(turn).call(
        'PATCH',
        `/api/v2/dev/apps/${app_id}`,
        turn % 4 === 0 ? { paused: turn % 8 === 0 } : { max_sessions: 3 },
        app.token,
      ),
    async (turn) => {
      const made = await client(turn).post(bans, { kind: 'user', username: owner.username }, app.token);
      if (made.status === 201)
        responses.push(
          await client(turn + 1).call(
            'DELETE',
            `${bans}/${String(made.body['ban_id'])}`,
            undefined,
            app.token,
          ),
        );
      return made;
    },
  ];
  await Promise.all(
    Array.from({ length: 20 }, async (_, worker) => {
      for (let n = 0; n < 20; n += 1) {
        const turn = worker * 20 + n;
        responses.push(await work[(worker + n) % work.length]!(turn));
      }
    }),
  );
  await app.patch({ paused: false });
  // A request that waited too long for a connection gets this error. Nothing else is a failure.
  const failures = Object.entries(tally(responses)).filter(([kind]) => kind.startsWith('5'));
  expect(failures.filter(([kind]) => kind !== '503 SERVICE_UNAVAILABLE')).toEqual([]);

  const { seats, users, redeemed, orphans, days } = await state(app);
  expect({ seats, orphans, days: Math.round(days) }).toEqual({
    seats: users,
    orphans: 0,
    days: redeemed * 30,
  });
  const [worst] = await sql<{ live: number }>(
    `select coalesce(max(n), 0)::int as live from
       (select count(*) as n from sessions where app_id = $1 and ended_at is null group by user_id) counted`,
    [app_id],
  );
  expect(worst!.live).toBeLessThanOrEqual(3);
  console.log(`everything at once: ${JSON.stringify(tally(responses))}`);
}, 120_000);
