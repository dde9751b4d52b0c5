import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { newApp, newDeveloper, unique, type App, type Developer } from '../support/fixtures.ts';
import { patiently, shuffled, tally, type LightResponse } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses();
const { client, sql } = two;
const [{ api }] = two.services;

const setLimit = (column: 'max_apps' | 'max_users_per_app', value: number) =>
  sql(`update plans set ${column} = $1`, [value]);

afterEach(async () => {
  await setLimit('max_apps', 25);
  await setLimit('max_users_per_app', 100_000);
});

const createApp = (turn: number, { token }: Developer) =>
  client(turn).post('/api/v2/dev/apps', { name: `App ${turn}` }, token);
const deleteApp = (turn: number, appId: unknown, { token }: Developer) =>
  client(turn).call('DELETE', `/api/v2/dev/apps/${String(appId)}`, undefined, token);

/** The counter, and the number of rows that it counts. */
async function apps({ developerId }: Developer): Promise<{ counted: number; rows: number }> {
  const [row] = await sql<{ counted: number; rows: number }>(
    `select apps as counted,
       (select count(*)::int from applications where developer_id = $1 and deleted_at is null) as rows
     from developers where developer_id = $1`,
    [developerId],
  );
  return row!;
}

async function users({ app_id: appId }: App): Promise<{ counted: number; rows: number }> {
  const [row] = await sql<{ counted: number; rows: number }>(
    `select users as counted, (select count(*)::int from users where app_id = $1) as rows
     from application_usage where app_id = $1`,
    [appId],
  );
  return row!;
}

const registerUser = (turn: number, app: App, more: object = {}) =>
  patiently(() =>
    client(turn).register(
      app.with({ username: unique('user'), password: 'a user password', hwid: 'machine', ...more }),
    ),
  );

/** Polls while the work is in progress. @returns the largest number */
async function largestDuring(work: Promise<unknown>, look: () => Promise<number>): Promise<number> {
  let over = false;
  let largest = 0;
  void work.then(
    () => (over = true),
    () => (over = true),
  );
  while (!over) {
    largest = Math.max(largest, await look());
    await delay(2);
  }
  return largest;
}

test('60 applications at once over two processes: as many as the plan allows, and deletions free quota', async () => {
  const developer = await newDeveloper(api);
  await setLimit('max_apps', 7);
  const creations = Promise.all(Array.from({ length: 60 }, (_, turn) => createApp(turn, developer)));
  const largest = await largestDuring(creations, async () => (await apps(developer)).rows);
  const created = await creations;
  expect(largest).toBeLessThanOrEqual(7);
  expect(tally(created)).toEqual({ 201: 7, '403 QUOTA_EXCEEDED': 53 });
  expect(await apps(developer)).toEqual({ counted: 7, rows: 7 });

  // Both processes delete every fourth one several times, which frees its quota once.
  const own = created.filter(({ status }) => status === 201).map(({ body }) => body['app_id']);
  const deletions = await Promise.all(
    own.slice(0, 4).flatMap((id) => Array.from({ length: 6 }, (_, turn) => deleteApp(turn, id, developer))),
  );
  expect(tally(deletions)).toEqual({ 200: 4, '404 APPLICATION_NOT_FOUND': 20 });
  expect(await apps(developer)).toEqual({ counted: 3, rows: 3 });

  const again = await Promise.all(Array.from({ length: 20 }, (_, turn) => createApp(turn, developer)));
  expect(tally(again)).toEqual({ 201: 4, '403 QUOTA_EXCEEDED': 16 });
  expect(await apps(developer)).toEqual({ counted: 7, rows: 7 });
});

test('creations and deletions at once: never above the plan, and the counter is correct at the end', async () => {
  const developer = await newDeveloper(api);
  await setLimit('max_apps', 5);
  const responses: LightResponse[] = [];
  const workers = Promise.all(
    Array.from({ length: 12 }, async (_, worker) => {
      for (let n = 0; n < 12; n += 1) {
        const created = await createApp(worker + n, developer);
        responses.push(created);
        if (created.status !== 201) continue;
        responses.push(await deleteApp(worker + n + 1, created.body['app_id'], developer));
      }
    }),
  );
  const largest = await largestDuring(workers, async () => (await apps(developer)).rows);
  await workers;
  expect(largest).toBeLessThanOrEqual(5);
  expect(
    Object.keys(tally(responses)).filter((kind) => !['200', '201', '403 QUOTA_EXCEEDED'].includes(kind)),
  ).toEqual([]);
  expect(await apps(developer)).toEqual({ counted: 0, rows: 0 });
});

test('40 registrations at once over two processes: as many users as the plan allows, no key is lost', async () => {
  const app = await newApp(api);
  const keys = await app.keys(20);
  await setLimit('max_users_per_app', 9);
  const registrations = Promise.all(
    shuffled([...keys, ...Array.from({ length: 20 }, () => undefined)]).map((key, turn) =>
      registerUser(turn, app, key === undefined ? {} : { license_key: key }),
    ),
  );
  const largest = await largestDuring(registrations, async () => (await users(app)).rows);
  const responses = await registrations;
  expect(largest).toBeLessThanOrEqual(9);
  expect(tally(responses)).toEqual({ 201: 9, '403 QUOTA_EXCEEDED': 31 });
  expect(await users(app)).toEqual({ counted: 9, rows: 9 });

  const [spent] = await sql<{ redeemed: number; subscribed: number }>(
    `select count(*)::int as redeemed, count(s.user_id)::int as subscribed
     from licenses l left join subscriptions s on s.user_id = l.redeemed_by
     where l.app_id = $1 and (l.status <> 'unused' or l.redeemed_by is not null)`,
    [app.app_id],
  );
  const [subscriptions] = await sql<{ all: number }>('select count(*)::int as "all" from subscriptions');
  expect(spent!.subscribed).toBe(spent!.redeemed);
  expect(subscriptions!.all).toBe(spent!.redeemed);

  // A larger plan counts from the next request on. A smaller one takes nothing away.
  await setLimit('max_users_per_app', 10);
  const more = await Promise.all(Array.from({ length: 6 }, (_, turn) => registerUser(turn, app)));
  expect(tally(more)).toEqual({ 201: 1, '403 QUOTA_EXCEEDED': 5 });
  await setLimit('max_users_per_app', 4);
  expect((await registerUser(0, app)).code).toBe('QUOTA_EXCEEDED');
  expect(await users(app)).toEqual({ counted: 10, rows: 10 });
});

test('an application that is deleted among registrations returns no 5xx, and its name is free again', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await setLimit('max_apps', 1);
  const registering = Promise.all(
    Array.from({ length: 24 }, async (_, turn) => {
      await delay(turn * 8);
      return registerUser(turn, app);
    }),
  );
  await delay(100);
  expect((await deleteApp(0, app.app_id, developer)).status).toBe(200);
  const kinds = Object.keys(tally(await registering));
  expect(kinds.filter((kind) => kind !== '201' && kind !== '401 INVALID_APP_CREDENTIALS')).toEqual([]);
  expect((await createApp(0, developer)).status).toBe(201);
  expect(await apps(developer)).toEqual({ counted: 1, rows: 1 });
});
