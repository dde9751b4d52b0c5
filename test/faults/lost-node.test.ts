import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { LightClient, tally, type LightResponse } from '../concurrency/load.ts';
import { sign, type V2Operation } from '../concurrency/signed.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  newApp,
  newDeveloper,
  newHwid,
  newNonce,
  newUser,
  unique,
  type App,
  type User,
} from '../support/fixtures.ts';
import { spawnService } from '../support/processes.ts';

const databaseUrl = await createTestDatabase();
const database = new pg.Client({ connectionString: databaseUrl });
await database.connect();
afterAll(() => database.end());
const environment = {
  DATABASE_URL: databaseUrl,
  MASTER_KEY: randomBytes(32).toString('base64'),
  LOG_LEVEL: 'error',
};
const start = () => spawnService(environment);

/** What a client knows, which must be true on every node. */
interface Ledger {
  /** Signed requests whose nonce was spent. */
  readonly spent: { operation: V2Operation; request: ReturnType<typeof sign> }[];
  /** Keys that have logged in, with their machines. */
  readonly keys: { key: string; hwid: string }[];
  readonly ended: string[];
  readonly banned: string[];
  /** Requests with an unknown result. */
  withoutResponse: number;
}

const gone = (error: unknown) =>
  /ECONNRESET|ECONNREFUSED|EPIPE|hang up/.test(`${(error as NodeJS.ErrnoException).code} ${String(error)}`);

/** Logs in, verifies, logs out, redeems keys and bans at one node until it is killed. */
async function burst(
  client: LightClient,
  app: App,
  keys: string[],
  owner: User,
  ledger: Ledger,
): Promise<void> {
  let over = false;
  const worker = async (work: () => Promise<void>) => {
    while (!over) {
      try {
        await work();
      } catch (error) {
        over = true;
        ledger.withoutResponse += 1;
        if (!gone(error)) throw error;
      }
    }
  };
  const signed = async (operation: V2Operation, body: object): Promise<LightResponse> => {
    const request = sign(app, { ...body, nonce: newNonce() });
    const response = await client.post(`/api/v2/client/${operation}`, request.text, {
      headers: request.headers,
    });
    if (response.status === 200) ledger.spent.push({ operation, request });
    return response;
  };
  const stay = await signed('login', owner);
  await Promise.all([
    ...Array.from({ length: 3 }, () =>
      worker(async () => {
        await signed('verify-session', { token: stay.body['token'] });
      }),
    ),
    ...Array.from({ length: 3 }, () =>
      worker(async () => {
        const key = keys.pop();
        if (key === undefined) return delay(20);
        const hwid = newHwid();
        const begun = await signed('login-license', { license_key: key, hwid });
        if (begun.status !== 200) return;
        ledger.keys.push({ key, hwid });
        const ended = await signed('logout', { session_token: begun.body['token'] });
        if (ended.status === 200) ledger.ended.push(String(begun.body['token']));
      }),
    ),
    worker(async () => {
      const hwid = newHwid();
      const path = `/api/v2/dev/apps/${app.app_id}/bans`;
      const { status } = await client.post(path, { kind: 'hardware', hwid }, app.token);
      if (status === 201) ledger.banned.push(hwid);
      await delay(10);
    }),
  ]);
}

/** The number of listed nodes, including dead ones. */
async function nodes(): Promise<number> {
  const { rows } = await database.query<{ n: number }>('select count(*)::int as n from nodes');
  return rows[0]!.n;
}

/** Everything that was acknowledged is true on this node. */
async function expectNothingLost(client: LightClient, app: App, ledger: Ledger): Promise<void> {
  // The last ones were in progress when the node was killed.
  const replays = await Promise.all(
    ledger.spent
      .slice(-40)
      .map(({ operation, request }) =>
        client.post(`/api/v2/client/${operation}`, request.text, { headers: request.headers }),
      ),
  );
  expect(tally(replays)).toEqual({ '401 NONCE_REUSED': replays.length });
  for (const { key, hwid } of ledger.keys.slice(-10)) {
    const login = (machine: string) =>
      client.post('/api/v2/client/login-license', { app_id: app.app_id, license_key: key, hwid: machine });
    expect((await login(hwid)).status).toBe(200);
    expect((await login(newHwid())).code).toBe('HWID_MISMATCH');
  }
  for (const token of ledger.ended.slice(-10))
    expect((await client.verify({ app_id: app.app_id, token })).code).toBe('SESSION_INVALID');
  for (const hwid of ledger.banned.slice(-10)) {
    const body = { username: unique('user'), password: 'a user password', hwid };
    expect((await client.register(app.with(body))).code).toBe('HWID_BANNED');
  }
}

test(
  'kill -9 of one of two nodes: the other one knows everything, and so does the first after its restart',
  { timeout: 180_000 },
  async () => {
    const other = await start();
    let killed = await start();
    const survivor = new LightClient(other.api.baseUrl);
    const developer = await newDeveloper(other.api);
    const app = await newApp(other.api, developer);
    const owner = await newUser(other.api, app);
    const keys = await app.keys(2_000);
    const ledger: Ledger = { spent: [], keys: [], ended: [], banned: [], withoutResponse: 0 };
    const health = async (client: LightClient) => {
      const { status, body } = await client.call('GET', '/health');
      return { status, message: body['message'] };
    };
    const well = { status: 200, message: 'operational' };

    for (let round = 0; round < 3; round += 1) {
      const before = ledger.spent.length;
      const bursting = burst(new LightClient(killed.api.baseUrl), app, keys, owner, ledger);
      await expect.poll(() => ledger.spent.length - before).toBeGreaterThan(40);
      await expect.poll(() => ledger.banned.length).toBeGreaterThan(round);
      expect(await killed.end('SIGKILL')).toBeNull();
      // Immediately, while the dead node is still listed.
      expect(await health(survivor)).toEqual(well);
      await bursting;
      await expectNothingLost(survivor, app, ledger);
      expect(await health(survivor)).toEqual(well);

      killed = await start();
      const back = new LightClient(killed.api.baseUrl);
      expect(await health(back)).toEqual(well);
      await expectNothingLost(back, app, ledger);
      expect(await health(survivor)).toEqual(well);
    }
    expect(ledger.withoutResponse).toBeGreaterThan(0);

    // Changes without a response happened completely or not at all.
    const { rows } = await database.query<{
      seats: number;
      users: number;
      orphans: number;
      days: string;
      keys: number;
    }>(
      `select u.users as seats, (select count(*)::int from users where app_id = $1) as users,
         (select count(*)::int from users x where x.app_id = $1 and x.password_hash is null and not exists
           (select 1 from licenses where redeemed_by = x.user_id)) as orphans,
         (select sum(extract(epoch from ends_at - starts_at)) / 86400 from subscriptions join users x using (user_id)
           where x.app_id = $1) as days,
           (select count(*)::int from licenses
             where app_id = $1 and status = 'redeemed' and redeemed_by is not null) as keys
       from application_usage u where u.app_id = $1`,
      [app.app_id],
    );
    const [found] = rows;
    expect(found!.seats).toBe(found!.users);
    expect(found!.users).toBe(found!.keys + 1);
    expect(found!.orphans).toBe(0);
    expect(Number(found!.days)).toBe(found!.keys * 30);
    expect(found!.keys).toBeGreaterThanOrEqual(ledger.keys.length);
    console.log(
      `${ledger.spent.length} nonces, ${ledger.keys.length} keys, ${ledger.ended.length} logouts and ` +
        `${ledger.banned.length} bans acknowledged, ${ledger.withoutResponse} requests without a response`,
    );
    // A node removes itself when it is stopped, and is no longer counted.
    const before = await nodes();
    expect(await killed.end('SIGTERM')).toBe(0);
    expect(await nodes()).toBe(before - 1);
    expect(await health(survivor)).toEqual(well);
  },
);
