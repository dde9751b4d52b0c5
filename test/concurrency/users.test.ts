import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newApp, newDeveloper, newHwid, unique, type App } from '../support/fixtures.ts';
import { registered } from '../operations/support/users.ts';
import { patiently, shuffled, tally, type LightResponse } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses();
const { client, sql } = two;
const [{ api }] = two.services;

const users = ({ app_id }: App) => `/api/v2/dev/apps/${app_id}/users`;

async function seats({ app_id: appId }: App): Promise<{ counted: number; rows: number }> {
  const [row] = await sql<{ counted: number; rows: number }>(
    `select users as counted, (select count(*)::int from users where app_id = $1) as rows
     from application_usage where app_id = $1`,
    [appId],
  );
  return row!;
}

/** Puts the application's developer on a plan with a limit of users. */
async function limitUsers({ app_id }: App, amount: number): Promise<void> {
  const plan = unique('plan');
  await sql('insert into plans (plan_id, name, max_apps, max_users_per_app) values ($1, $1, 25, $2)', [
    plan,
    amount,
  ]);
  await sql(
    'update developers set plan_id = $1 where developer_id = (select developer_id from applications where app_id = $2)',
    [plan, app_id],
  );
}

test('50 resets at once over two processes: one succeeds, and earlier sessions are ended', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  await api.login(app.with(user));
  const body = { app_id: app.app_id, username: user.username, password: user.password };
  const responses = await Promise.all(
    Array.from({ length: 50 }, async (_, turn) => {
      // Only a full queue of passwords is retried.
      for (;;) {
        const response = await client(turn).post('/api/v2/client/reset-hwid', body);
        if (response.code !== 'TOO_MANY_REQUESTS') return response;
        await delay(30 + turn);
      }
    }),
  );
  expect(tally(responses)).toEqual({ 200: 1, '429 HWID_RESET_TOO_SOON': 49 });
  const [told] = await sql<{ resets: number; ended: number }>(
    `select count(*) filter (where type = 'user.hwid_reset')::int as resets,
       count(*) filter (where type = 'session.ended')::int as ended
     from events where user_id = $1`,
    [user.userId],
  );
  expect(told).toEqual({ resets: 1, ended: 1 });
});

test('creations, imports, registrations and deletions at once: never above the plan, correct counter', async () => {
  const app = await newApp(api);
  await limitUsers(app, 30);
  const create = (turn: number) => client(turn).post(users(app), { username: unique('made') }, app.token);
  const register = (turn: number) =>
    patiently(() =>
      client(turn).register(
        app.with({ username: unique('user'), password: 'a user password', hwid: newHwid() }),
      ),
    );
  const bulk = async (turn: number) =>
    patiently(() =>
      client(turn).post(
        `${users(app)}/import/ndjson`,
        Array.from({ length: 4 }, () => JSON.stringify({ username: unique('moved') })).join('\n'),
        { token: app.token, headers: { 'content-type': 'application/x-ndjson' } },
      ),
    );
  const createAndDelete = async (turn: number) => {
    const made = await create(turn);
    if (made.status !== 201) return made;
    return client(turn + 1).call('DELETE', `${users(app)}/${made.body['user_id']}`, undefined, app.token);
  };
  const kinds = shuffled([
    ...Array<typeof create>(30).fill(create),
    ...Array<typeof create>(20).fill(createAndDelete),
    ...Array<typeof create>(10).fill(bulk),
    ...Array<typeof create>(8).fill(register),
  ]);
  let over = false;
  let largest = 0;
  const work = Promise.all(kinds.map((kind, turn) => kind(turn))).finally(() => (over = true));
  while (!over) {
    largest = Math.max(largest, (await seats(app)).rows);
    await delay(2);
  }
  const responses = await work;
  expect(largest).toBeLessThanOrEqual(30);
  expect(
    Object.keys(tally(responses)).filter((kind) => !['200', '201', '403 QUOTA_EXCEEDED'].includes(kind)),
  ).toEqual([]);
  const { counted, rows } = await seats(app);
  expect(counted).toBe(rows);
  // All remaining seats are used, and no more.
  const rest = await Promise.all(Array.from({ length: 40 }, (_, turn) => create(turn)));
  expect(rest.filter(({ status }) => status === 201)).toHaveLength(30 - rows);
  expect(await seats(app)).toEqual({ counted: 30, rows: 30 });
  // Imports succeed completely or not at all.
  const [moved] = await sql<{ n: number }>(
    `select count(*)::int as n from users where app_id = $1 and username like 'moved-%'`,
    [app.app_id],
  );
  expect(moved!.n % 4).toBe(0);
});

test('a file that both processes import concurrently is imported once', async () => {
  const app = await newApp(api);
  const text = `username\n${Array.from({ length: 500 }, (_, n) => `user ${n}`).join('\n')}`;
  const headers = { 'content-type': 'text/csv' };
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, turn) =>
      patiently(() => client(turn).post(`${users(app)}/import`, text, { token: app.token, headers })),
    ),
  );
  expect(tally(responses)).toEqual({ 201: 1, '409 USERNAME_TAKEN': 7 });
  expect(await seats(app)).toEqual({ counted: 500, rows: 500 });
});

test('bans and logins at once: after the response to a ban, no user is logged in', async () => {
  const app = await newApp(api);
  for (let round = 0; round < 5; round += 1) {
    const user = await registered(api, app);
    const responses: LightResponse[] = [];
    const logins = Promise.all(
      Array.from({ length: 8 }, async (_, turn) => {
        responses.push(await patiently(() => client(turn).login(app.with(user))));
      }),
    );
    await delay(20 * round);
    const banned = await client(round).post(`${users(app)}/${user.userId}/ban`, {}, app.token);
    expect(banned.status).toBe(200);
    await logins;
    expect(
      Object.keys(tally(responses)).filter((kind) => !['200', '403 USER_BANNED'].includes(kind)),
    ).toEqual([]);
    for (const { body, status } of responses) {
      if (status !== 200) continue;
      const verified = await client(round + 1).verify({ app_id: app.app_id, token: body['token'] });
      expect(verified.code).toBe('SESSION_INVALID');
    }
    const [live] = await sql<{ n: number }>(
      'select count(*)::int as n from sessions where user_id = $1 and ended_at is null',
      [user.userId],
    );
    expect(live!.n).toBe(0);
  }
});

test('password changes and logins at once: no session of the old password outlives the response', async () => {
  const app = await newApp(api);
  for (let round = 0; round < 5; round += 1) {
    const user = await registered(api, app);
    const logins = Promise.all(
      Array.from({ length: 8 }, (_, turn) => patiently(() => client(turn).login(app.with(user)))),
    );
    await delay(30 * round);
    const path = `${users(app)}/${user.userId}/reset-password`;
    const changed = await patiently(() =>
      client(round).post(path, { password: 'a new password' }, app.token),
    );
    expect(changed.status).toBe(200);
    const responses = await logins;
    expect(
      Object.keys(tally(responses)).filter(
        (kind) => !['200', '401 INVALID_CREDENTIALS', '429 TOO_MANY_REQUESTS'].includes(kind),
      ),
    ).toEqual([]);
    const [live] = await sql<{ n: number }>(
      'select count(*)::int as n from sessions where user_id = $1 and ended_at is null',
      [user.userId],
    );
    expect(live!.n).toBe(0);
  }
});

test('extensions, bulk extensions and activations at once: every day is added once', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const user = await registered(api, app);
  const keys = await app.keys(10, 'Pro', 1);
  const single = (turn: number) =>
    client(turn).post(`${users(app)}/${user.userId}/extend`, { tier: 'Pro', days: 1 }, app.token);
  const named = (turn: number) =>
    patiently(() =>
      client(turn).post(`${users(app)}/extend`, { tier: 'Pro', days: 1, user_ids: [user.userId] }, app.token),
    );
  const activations = keys.map(
    (license_key) => (turn: number) =>
      client(turn).activate(app.with({ username: user.username, license_key })),
  );
  expect((await single(0)).status).toBe(200);
  const [before] = await sql<{ ends_at: Date }>('select ends_at from subscriptions where user_id = $1', [
    user.userId,
  ]);
  const works = shuffled([
    ...Array<typeof single>(10).fill(single),
    ...Array<typeof single>(10).fill(named),
    ...activations,
  ]);
  const responses = await Promise.all(works.map((work, turn) => work(turn)));
  expect(tally(responses)).toEqual({ 200: 30 });
  const [after] = await sql<{ ends_at: Date }>('select ends_at from subscriptions where user_id = $1', [
    user.userId,
  ]);
  expect(after!.ends_at.getTime() - before!.ends_at.getTime()).toBe(30 * 86_400_000);
});
