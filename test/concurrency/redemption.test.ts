import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { newApp, newSession, newUser, unique, type App, type User } from '../support/fixtures.ts';
import { patiently, quantile, shuffled, tally, type LightResponse } from './load.ts';
import { copyUser, startTwoProcesses } from './two-processes.ts';

const DAY_MS = 86_400_000;

const two = await startTwoProcesses();
const { client, sql } = two;
const [{ api }, { api: secondApi }] = two.services;
let app: App;
let users: string[];
let owner: User;

beforeAll(async () => {
  app = await newApp(api);
  owner = await newUser(api, app);
  users = await copyUser(two, app.app_id, owner.username, 40);
  // Warms up both pools.
  await Promise.all(
    Array.from({ length: 200 }, (_, n) => client(n).post('/api/v1/client/init', app.with({}))),
  );
});

/** The key as a user types it. */
function spelled(key: string, n: number): string {
  return [key, key.toLowerCase(), key.replaceAll('-', ''), key.replaceAll('-', ' ')][n % 4]!;
}

interface Redeemed {
  username: string;
  keys: number;
  first: Date;
  ends_at: Date;
  periods: number;
}

/** The days of every user, by the keys that name the user and by the user's timeline. */
function redeemed(appId: string): Promise<Redeemed[]> {
  return sql<Redeemed>(
    `select u.username, count(l.license_id)::int as keys, min(l.redeemed_at) as first, max(s.ends_at) as ends_at,
       count(distinct s.tier)::int as periods
     from users u left join licenses l on l.redeemed_by = u.user_id left join subscriptions s on s.user_id = u.user_id
     where u.app_id = $1 group by u.user_id`,
    [appId],
  );
}

/** Every user has exactly the days of the redeemed keys. */
async function expectDaysOfKeys(appId: string, daysAKey: number): Promise<Redeemed[]> {
  const rows = await redeemed(appId);
  for (const { username, keys, first, ends_at: endsAt, periods } of rows) {
    if (keys === 0) {
      expect(endsAt, username).toBeNull();
      continue;
    }
    expect(periods, username).toBe(1);
    expect((endsAt.getTime() - first.getTime()) / DAY_MS, username).toBe(keys * daysAKey);
  }
  return rows;
}

test('200 keys, each redeemed 50 times at once over two processes: one success per key, days added once', async () => {
  const keys = await app.keys(200, 'Standard', 30);
  const session = await newSession(api, app);
  const verifyTimes: number[] = [];
  let over = false;
  const verifying = (async () => {
    for (let n = 0; !over; n += 1) {
      const response = await client(n).verify({ app_id: app.app_id, token: session.token });
      expect(response.status).toBe(200);
      verifyTimes.push(response.ms);
      await delay(20);
    }
  })();

  const wins = new Map<string, number>();
  const KEYS_AT_ONCE = 2;
  for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
    const attempts = keys.slice(start, start + KEYS_AT_ONCE).flatMap((key, offset) =>
      Array.from({ length: 50 }, (_, n) => ({
        key,
        n,
        // Half of them for one user, the others for many.
        username: users[n % 2 === 0 ? (start + offset) % users.length : randomInt(users.length)]!,
      })),
    );
    const responses = await Promise.all(
      shuffled(attempts).map(async ({ key, n, username }, turn) => ({
        key,
        username,
        response: await client(turn).activate(app.with({ username, license_key: spelled(key, n) })),
      })),
    );
    for (const key of new Set(attempts.map((attempt) => attempt.key))) {
      const ofKey = responses.filter((each) => each.key === key);
      expect(tally(ofKey.map(({ response }) => response)), key).toEqual({
        200: 1,
        '400 LICENSE_ALREADY_USED': 49,
      });
      const { username } = ofKey.find(({ response }) => response.status === 200)!;
      wins.set(username, (wins.get(username) ?? 0) + 1);
    }
  }
  over = true;
  await verifying;

  const rows = await expectDaysOfKeys(app.app_id, 30);
  expect(rows.reduce((sum, { keys: spent }) => sum + spent, 0)).toBe(200);
  for (const { username, keys: spent } of rows) expect(spent, username).toBe(wins.get(username) ?? 0);
  console.log(
    `verify during redemptions: ${verifyTimes.length}, ` +
      `p50 ${quantile(verifyTimes, 0.5).toFixed(0)} ms, p99 ${quantile(verifyTimes, 0.99).toFixed(0)} ms`,
  );
}, 300_000);

test('one user redeems 60 keys at once over two processes: every day counts', async () => {
  const own = await newApp(api);
  const { username } = await newUser(api, own);
  const keys = [...(await own.keys(30, 'Standard', 10)), ...(await own.keys(30, 'Pro', 10))];
  const responses = await Promise.all(
    shuffled(keys).map((key, turn) => client(turn).activate(own.with({ username, license_key: key }))),
  );
  expect(tally(responses)).toEqual({ 200: 60 });
  const [timeline] = await sql<{ ms: number; tiers: string[]; first: Date; gap: boolean }>(
    `select extract(epoch from max(s.ends_at) - min(l.first)) * 1000 as ms,
       array_agg(distinct s.tier order by s.tier) as tiers
     from subscriptions s join users u using (user_id),
       (select min(redeemed_at) as first from licenses where app_id = $1) l
     where u.app_id = $1`,
    [own.app_id],
  );
  expect(timeline!.tiers).toEqual(['Pro', 'Standard']);
  expect(Number(timeline!.ms)).toBe(600 * DAY_MS);
});

test('registrations with a key race activations of it: one gets it, the others leave nothing behind', async () => {
  const own = await newApp(api);
  const first = await newUser(api, own);
  const activators = await copyUser(two, own.app_id, first.username, 3);
  const keys = await own.keys(24, 'Pro', 30);
  const registered: string[] = [];
  const refused: string[] = [];
  let byRegistration = 0;

  // A queue accepts 17 password hashes: 4 keys are 8 registrations per process.
  for (let start = 0; start < keys.length; start += 4) {
    await Promise.all(
      keys.slice(start, start + 4).map(async (key) => {
        const registrations = Array.from({ length: 4 }, async (_, turn) => {
          const username = unique('racer');
          const response = await client(turn).register(
            own.with({
              username,
              password: 'a user password',
              hwid: 'machine',
              license_key: spelled(key, turn),
            }),
          );
          (response.status === 201 ? registered : refused).push(username);
          return response;
        });
        const activations = activators.map(async (username, turn) => {
          // A registration hashes a password before it redeems the key.
          await delay(randomInt(400));
          return client(turn).activate(own.with({ username, license_key: spelled(key, turn) }));
        });
        const [registering, activating] = await Promise.all([
          Promise.all(registrations),
          Promise.all(activations),
        ]);
        const success = (response: LightResponse) => response.status < 300;
        expect([...registering, ...activating].filter(success), key).toHaveLength(1);
        byRegistration += registering.filter(success).length;
        for (const response of registering.filter((each) => !success(each)))
          expect(response).toMatchObject({ status: 409, code: 'LICENSE_ALREADY_USED' });
        for (const response of activating.filter((each) => !success(each)))
          expect(response).toMatchObject({ status: 400, code: 'LICENSE_ALREADY_USED' });
      }),
    );
  }

  const rows = await expectDaysOfKeys(own.app_id, 30);
  const names = rows.map(({ username }) => username);
  expect(names.toSorted()).toEqual([first.username, ...activators, ...registered].toSorted());
  expect(names.filter((name) => refused.includes(name))).toEqual([]);
  for (const name of registered) expect(rows.find(({ username }) => username === name)!.keys).toBe(1);
  const usage = await sql('select users from application_usage where app_id = $1', [own.app_id]);
  expect(usage).toEqual([{ users: names.length }]);
  console.log(`${byRegistration} of ${keys.length} keys went to registrations`);
});

test('one key in 30 registrations over two processes: one account', async () => {
  const own = await newApp(secondApi);
  const [key] = await own.keys(1);
  const responses = await Promise.all(
    Array.from({ length: 30 }, (_, turn) =>
      patiently(() =>
        client(turn).register(
          own.with({
            username: `racer ${turn}`,
            password: 'a user password',
            hwid: 'machine',
            license_key: key,
          }),
        ),
      ),
    ),
  );
  expect(tally(responses)).toEqual({ 201: 1, '409 LICENSE_ALREADY_USED': 29 });
  const [{ users: seats, rows } = {}] = await sql<{ users: number; rows: number }>(
    `select users, (select count(*)::int from users where app_id = $1) as rows
     from application_usage where app_id = $1`,
    [own.app_id],
  );
  expect({ seats, rows }).toEqual({ seats: 1, rows: 1 });
  await expectDaysOfKeys(own.app_id, 30);
});
