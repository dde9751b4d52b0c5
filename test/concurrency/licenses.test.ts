import { beforeAll, expect, test } from 'vitest';
import { newApp, newUser, type App } from '../support/fixtures.ts';
import { shuffled, tally, type LightResponse } from './load.ts';
import { copyUser, startTwoProcesses } from './two-processes.ts';

const DAY_MS = 86_400_000;
const ROUNDS = 12;

const two = await startTwoProcesses();
const { client, sql } = two;
const [{ api }] = two.services;
let app: App;
let users: string[];

beforeAll(async () => {
  app = await newApp(api);
  const owner = await newUser(api, app);
  users = await copyUser(two, app.app_id, owner.username, 10);
});

interface Made {
  readonly license_id: string;
  readonly license_key: string;
}

async function create(own: App, amount: number): Promise<Made[]> {
  const wanted = { amount, tier: 'Pro', duration_days: 30 };
  const { body } = await client(0).post(`/api/v2/dev/apps/${own.app_id}/licenses`, wanted, own.token);
  return body['licenses'] as Made[];
}

const licenses = (own: App) => `/api/v2/dev/apps/${own.app_id}/licenses`;
const post = (turn: number, own: App, path: string, body?: object) =>
  client(turn).post(`${licenses(own)}${path}`, body, own.token);
const activate = (turn: number, own: App, username: string, { license_key }: Made) =>
  client(turn).activate(own.with({ username, license_key }));
const userOf = (n: number) => users[n % users.length]!;

/** Sends all requests concurrently, over both processes, in random order. Responses are in the given order. */
async function atOnce(
  calls: readonly ((turn: number) => Promise<LightResponse>)[],
): Promise<LightResponse[]> {
  const responses: LightResponse[] = [];
  const order = shuffled(calls.map((_, index) => index));
  await Promise.all(order.map(async (index, turn) => (responses[index] = await calls[index]!(turn))));
  return responses;
}

interface State {
  status: string;
  duration_days: number;
  redeemed_by: string | null;
}

async function stateOf({ license_id }: Made): Promise<State | undefined> {
  const [row] = await sql<State>(
    'select status, duration_days, redeemed_by from licenses where license_id = $1',
    [license_id],
  );
  return row;
}

/** The total milliseconds that users of an application have of a tier, from the first redemption on. */
async function daysOf(own: App): Promise<number> {
  const [row] = await sql<{ ms: string }>(
    `select coalesce(sum(extract(epoch from s.ends_at - s.starts_at)), 0) * 1000 as ms
     from subscriptions s join users u using (user_id) where u.app_id = $1`,
    [own.app_id],
  );
  return Number(row!.ms) / DAY_MS;
}

test('a key that is banned while it is redeemed: the ban stays, and an earlier redemption counts', async () => {
  for (const [n, license] of (await create(app, ROUNDS)).entries()) {
    const [banned, ...redemptions] = await atOnce([
      (turn) => post(turn, app, `/${license.license_id}/ban`, { ban_user: n % 2 === 0 }),
      ...Array.from({ length: 8 }, (_, m) => (turn: number) => activate(turn, app, userOf(m), license)),
    ]);
    expect(banned!.status).toBe(200);
    const successes = redemptions.filter(({ status }) => status === 200);
    expect(successes.length).toBeLessThanOrEqual(1);
    const state = (await stateOf(license))!;
    expect(state.status).toBe('banned');
    expect(state.redeemed_by !== null).toBe(successes.length === 1);
    for (const { code, status } of redemptions) {
      if (status === 200) continue;
      expect(['LICENSE_UNUSABLE', 'LICENSE_ALREADY_USED', 'USER_BANNED']).toContain(code);
    }
    expect((banned!.body['ban_id'] !== null) === (n % 2 === 0 && successes.length === 1)).toBe(true);
    await sql('delete from bans where app_id = $1', [app.app_id]);
  }
});

test('keys extended while they are redeemed: the days count once, on the key or on its holder', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const own = await newApp(api);
    const owner = await newUser(api, own);
    const names = await copyUser(two, own.app_id, owner.username, 6);
    const made = await create(own, 6);
    const license_ids = made.map(({ license_id }) => license_id);
    const selection = round % 2 === 0 ? { license_ids } : { all: true };
    const [extended, ...redemptions] = await atOnce([
      (turn) => post(turn, own, '/extend', { days: 7, ...selection }),
      ...made.map((license, n) => (turn: number) => activate(turn, own, names[n]!, license)),
    ]);
    expect(tally([extended!, ...redemptions])).toEqual({ 200: 7 });
    expect(await daysOf(own)).toBeCloseTo(6 * 37, 3);
    expect(extended!.body).toMatchObject({ left: 0 });
    expect(Number(extended!.body['licenses']) + Number(extended!.body['users'])).toBe(6);
  }
});

test('the same keys extended twice at once: both count, or one is refused and changes nothing', async () => {
  const [license] = (await create(app, 1)) as [Made];
  const calls = 12;
  const responses = await atOnce(
    Array.from({ length: calls }, () => (turn: number) => {
      return post(turn, app, '/extend', { days: 1, license_ids: [license.license_id] });
    }),
  );
  const done = responses.filter(({ status }) => status === 200).length;
  expect(tally(responses)).toEqual({ 200: calls });
  expect((await stateOf(license))!.duration_days).toBe(30 + done);
});

test('a key that is transferred to several users at once moves from user to user with its days', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const own = await newApp(api);
    const owner = await newUser(api, own);
    const names = await copyUser(two, own.app_id, owner.username, 4);
    const [license] = (await create(own, 1)) as [Made];
    expect((await activate(0, own, owner.username, license)).status).toBe(200);
    const same = round % 2 === 0;
    const responses = await atOnce(
      names.map((name) => (turn: number) => {
        return post(turn, own, `/${license.license_id}/transfer`, { username: same ? names[0]! : name });
      }),
    );
    expect(tally(responses)).toEqual(same ? { 200: 1, '409 LICENSE_ALREADY_HELD': 3 } : { 200: 4 });
    const holders = await sql<{ user_id: string; ms: string }>(
      `select user_id, extract(epoch from ends_at - (select redeemed_at from licenses where app_id = $1)) * 1000 as ms
       from subscriptions join users using (user_id) where app_id = $1`,
      [own.app_id],
    );
    expect(holders.map(({ user_id }) => user_id)).toEqual([(await stateOf(license))!.redeemed_by]);
    expect(Number(holders[0]!.ms) / DAY_MS).toBe(30);
  }
});

test('two keys of two users swapped at once: without a deadlock', async () => {
  const own = await newApp(api);
  const owner = await newUser(api, own);
  const [a, b] = (await copyUser(two, own.app_id, owner.username, 2)) as [string, string];
  const made = (await create(own, 10)) as Made[];
  await Promise.all(made.map((license, n) => activate(n, own, n % 2 === 0 ? a : b, license)));
  const responses = await atOnce(
    made.map((license, n) => (turn: number) => {
      return post(turn, own, `/${license.license_id}/transfer`, { username: n % 2 === 0 ? b : a });
    }),
  );
  expect(tally(responses)).toEqual({ 200: 10 });
  expect(await daysOf(own)).toBeCloseTo(300, 3);
});

test('a key that is deleted while it is redeemed: one of the two happens', async () => {
  for (let n = 0; n < ROUNDS * 2; n += 1) {
    const [license] = (await create(app, 1)) as [Made];
    const [deleted, ...redemptions] = await atOnce([
      (turn) =>
        n % 2 === 0
          ? client(turn).call('DELETE', `${licenses(app)}/${license.license_id}`, undefined, app.token)
          : client(turn).call('DELETE', `${licenses(app)}?status=unused`, undefined, app.token),
      ...Array.from({ length: 6 }, (_, m) => (turn: number) => activate(turn, app, userOf(m), license)),
    ]);
    const successes = redemptions.filter(({ status }) => status === 200).length;
    const state = await stateOf(license);
    expect(successes).toBe(state === undefined ? 0 : 1);
    if (n % 2 === 0) expect(deleted!.code).toBe(state === undefined ? undefined : 'LICENSE_STATE_CONFLICT');
    else expect(deleted!.status).toBe(200);
    const codes = new Set(redemptions.filter(({ status }) => status !== 200).map(({ code }) => code));
    codes.delete(state === undefined ? 'LICENSE_NOT_FOUND' : 'LICENSE_ALREADY_USED');
    expect([...codes]).toEqual([]);
  }
});

test('a table that is imported twice at once: its keys exist once', async () => {
  const own = await newApp(api);
  const table = [
    'license_key,tier,duration_days',
    ...Array.from({ length: 500 }, (_, n) => `IMPORTED-${n},Pro,30`),
  ];
  const responses = await atOnce(
    Array.from({ length: 6 }, () => (turn: number) => {
      const headers = { 'content-type': 'text/csv' };
      const text = shuffled(table.slice(1));
      return client(turn).post(`${licenses(own)}/import`, [table[0], ...text].join('\n'), {
        token: own.token,
        headers,
      });
    }),
  );
  const [imported] = responses.filter(({ status }) => status === 201);
  expect(imported!.body).toEqual({ status: 'success', imported: 500 });
  for (const { status, code } of responses.filter((response) => response !== imported))
    expect(['400 VALIDATION_FAILED', '429 TOO_MANY_REQUESTS']).toContain(`${status} ${code}`);
  const [row] = await sql<{ n: number }>('select count(*)::int as n from licenses where app_id = $1', [
    own.app_id,
  ]);
  expect(row!.n).toBe(500);
});
