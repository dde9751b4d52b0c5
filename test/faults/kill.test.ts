import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { LightClient } from '../concurrency/load.ts';
import { sign } from '../concurrency/signed.ts';
import { newApp, newNonce, newUser, unique, type App } from '../support/fixtures.ts';
import {
  embeddedDatabaseUrl,
  postmasterOf,
  spawnService,
  temporaryDataDir,
  type ServiceProcess,
} from '../support/processes.ts';

/** The documented maximum is 2 s on an idle machine. Other tests share this one. */
const READY_WITHIN_MS = 30_000;
const DAY_SECONDS = 86_400;

/** What clients received, and the requests without a response. */
interface Ledger {
  readonly registered: Set<string>;
  readonly keyOfRegistration: Map<string, string>;
  readonly activated: Set<string>;
  readonly apps: Set<string>;
  /** Signed requests whose nonce was spent. */
  readonly spent: ReturnType<typeof sign>[];
  readonly requested: { registrations: number; activations: number };
}

/** The database was too slow or already killed: the change may have happened or not, but completely. */
const UNACKNOWLEDGED = 503;

interface Scene {
  readonly app: App;
  readonly username: string;
  readonly keys: string[];
  readonly ledger: Ledger;
}

async function prepare({ api }: ServiceProcess): Promise<Scene> {
  const app = await newApp(api);
  const { username } = await newUser(api, app);
  return {
    app,
    username,
    keys: await app.keys(5_000, 'Standard', 30),
    ledger: {
      registered: new Set([username]),
      keyOfRegistration: new Map(),
      activated: new Set(),
      apps: new Set(),
      spent: [],
      requested: { registrations: 0, activations: 0 },
    },
  };
}

/** Registers, activates and creates until the service is killed. */
async function burst(baseUrl: string, scene: Scene): Promise<void> {
  const { app, username, keys, ledger } = scene;
  const client = new LightClient(baseUrl);
  let gone = false;
  /** Works until the connection breaks. */
  const worker = async (work: () => Promise<void>) => {
    while (!gone) {
      try {
        await work();
      } catch (error) {
        gone = true;
        const { code = '' } = error as NodeJS.ErrnoException;
        if (!/ECONNRESET|ECONNREFUSED|EPIPE/.test(code)) throw error;
      }
    }
  };
  const register = async () => {
    const key = keys.pop();
    // A fast machine has used all of them, and the others continue.
    if (key === undefined) return delay(20);
    const name = unique('user');
    ledger.requested.registrations += 1;
    ledger.keyOfRegistration.set(name, key);
    const response = await client.register(
      app.with({ username: name, password: 'a user password', hwid: 'machine', license_key: key }),
    );
    if (response.status === 201) ledger.registered.add(name);
    else expect([429, UNACKNOWLEDGED]).toContain(response.status);
  };
  const activate = async () => {
    const key = keys.pop();
    if (key === undefined) return delay(20);
    ledger.requested.activations += 1;
    const response = await client.activate(app.with({ username, license_key: key }));
    if (response.status === 200) ledger.activated.add(key);
    else expect(response.status).toBe(UNACKNOWLEDGED);
  };
  const create = async () => {
    const response = await client.post('/api/v2/dev/apps', { name: 'App' }, app.token);
    if (response.status === 201) ledger.apps.add(String(response.body['app_id']));
    else if (response.status !== UNACKNOWLEDGED) expect(response.code).toBe('QUOTA_EXCEEDED');
    await delay(20);
  };
  // The session never existed, but the nonce is spent.
  const spend = async () => {
    const request = sign(app, { token: 'x'.repeat(22), nonce: newNonce() });
    const { text, headers } = request;
    const response = await client.post('/api/v2/client/verify-session', text, { headers });
    if (response.code === 'SESSION_INVALID') ledger.spent.push(request);
    else expect(response.status).toBe(UNACKNOWLEDGED);
    await delay(5);
  };
  await Promise.all([
    ...Array.from({ length: 2 }, () => worker(spend)),
    ...Array.from({ length: 6 }, () => worker(register)),
    ...Array.from({ length: 6 }, () => worker(activate)),
    worker(create),
  ]);
}

/** Returns shortly after a burst has made progress. */
async function underWay({ ledger: { registered, activated } }: Scene): Promise<void> {
  const [registrations, activations] = [registered.size + 2, activated.size + 2];
  const progress = () => [registered.size - registrations, activated.size - activations];
  await expect.poll(() => Math.min(...progress())).toBeGreaterThanOrEqual(0);
  await delay(randomInt(100, 700));
}

/** Everything that was acknowledged exists. Everything else happened completely or not at all. */
async function expectNothingLost(dataDir: string, service: ServiceProcess, scene: Scene): Promise<void> {
  const { app, ledger } = scene;
  const database = new pg.Client({ connectionString: await embeddedDatabaseUrl(dataDir) });
  await database.connect();
  try {
    const { rows: users } = await database.query<{ username: string; keys: number; days: number }>(
      `select u.username, (select count(*)::int from licenses l where l.redeemed_by = u.user_id) as keys,
           coalesce(extract(epoch from s.ends_at -
             (select min(redeemed_at) from licenses l where l.redeemed_by = u.user_id)), 0)
           / ${DAY_SECONDS} as days
       from users u left join subscriptions s using (user_id) where u.app_id = $1`,
      [app.app_id],
    );
    const names = new Set(users.map(({ username }) => username));
    expect([...ledger.registered].filter((name) => !names.has(name))).toEqual([]);
    for (const { username, keys, days } of users) {
      expect(Number(days), username).toBe(keys * 30);
      if (username !== scene.username) expect(keys, username).toBe(1);
    }
    const activator = users.find(({ username }) => username === scene.username)!;
    expect(activator.keys).toBeGreaterThanOrEqual(ledger.activated.size);
    expect(activator.keys).toBeLessThanOrEqual(ledger.requested.activations);
    expect(users.length).toBeLessThanOrEqual(ledger.requested.registrations + 1);

    const { rows: counters } = await database.query(
      `select u.users::int as users,
         (select count(*)::int from applications a where a.developer_id = d.developer_id) as apps,
         d.apps as seats,
         (select count(*)::int from licenses where status = 'redeemed' and redeemed_by is null) as orphans,
         (select count(*)::int from licenses where status <> 'redeemed' and redeemed_by is not null) as strays
       from application_usage u join applications using (app_id) join developers d using (developer_id)
       where u.app_id = $1`,
      [app.app_id],
    );
    const [counted] = counters as {
      users: number;
      apps: number;
      seats: number;
      orphans: number;
      strays: number;
    }[];
    expect(counted).toMatchObject({ users: users.length, orphans: 0, strays: 0 });
    expect(counted!.seats).toBe(counted!.apps);

    // And with the operations: an acknowledged key is redeemed, an acknowledged user can log in.
    const client = new LightClient(service.api.baseUrl);
    for (const key of [...ledger.activated].slice(-5)) {
      const again = await client.activate(app.with({ username: scene.username, license_key: key }));
      expect(again.code).toBe('LICENSE_ALREADY_USED');
    }
    for (const name of [...ledger.registered].slice(-5)) {
      if (name === scene.username) continue;
      const login = await client.login(
        app.with({ username: name, password: 'a user password', hwid: 'machine' }),
      );
      expect(login.status).toBe(200);
    }
    expect(ledger.spent.length).toBeGreaterThan(0);
    for (const { text, headers } of ledger.spent.slice(-20)) {
      const again = await client.post('/api/v2/client/verify-session', text, { headers });
      expect(again.code).toBe('NONCE_REUSED');
    }
    for (const id of ledger.apps) {
      const found = await client.call('GET', `/api/v2/dev/apps/${id}`, undefined, app.token);
      expect(found.status).toBe(200);
    }
  } finally {
    await database.end();
  }
}

async function start(dataDir: string): Promise<{ service: ServiceProcess; ms: number }> {
  const began = performance.now();
  const service = await spawnService({ DATA_DIR: dataDir, LOG_LEVEL: 'error' });
  const ms = performance.now() - began;
  expect(ms).toBeLessThan(READY_WITHIN_MS);
  return { service, ms };
}

describe('kill -9 in the middle of a burst', { timeout: 180_000 }, () => {
  test('of the service: nothing acknowledged is lost, nothing is half done, and it starts again', async () => {
    const dataDir = await temporaryDataDir();
    let { service, ms } = await start(dataDir);
    const times = [`first start ${ms.toFixed(0)} ms`];
    const scene = await prepare(service);
    for (let round = 0; round < 2; round += 1) {
      const bursting = burst(service.api.baseUrl, scene);
      await underWay(scene);
      expect(await service.end('SIGKILL')).toBeNull();
      await bursting;
      ({ service, ms } = await start(dataDir));
      times.push(`after kill -9: ${ms.toFixed(0)} ms`);
      await expectNothingLost(dataDir, service, scene);
    }
    expect(scene.ledger.registered.size).toBeGreaterThan(3);
    expect(scene.ledger.activated.size).toBeGreaterThan(3);
    console.log(
      `${times.join(', ')}; ${scene.ledger.registered.size} registrations and ` +
        `${scene.ledger.activated.size} activations acknowledged`,
    );
    expect(await service.end('SIGTERM')).toBe(0);
  });

  test('of service and database server together: likewise', async () => {
    const dataDir = await temporaryDataDir();
    let { service, ms } = await start(dataDir);
    const scene = await prepare(service);
    const bursting = burst(service.api.baseUrl, scene);
    await underWay(scene);
    const postmaster = (await postmasterOf(dataDir))!;
    process.kill(postmaster, 'SIGKILL');
    await service.end('SIGKILL');
    await bursting;
    ({ service, ms } = await start(dataDir));
    await expectNothingLost(dataDir, service, scene);
    expect(await service.end('SIGTERM')).toBe(0);
    console.log(`after kill -9 of both: ${ms.toFixed(0)} ms`);
  });
});
