import { systemRandom } from '../../src/platform/random.ts';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { prepareDemo, type Demo } from '../../src/app/demo/demo.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startService, type RunningService } from '../../src/app/service.ts';
import { newApp, newUser } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import {
  postmasterOf,
  runToEnd,
  spawnProgram,
  spawnService,
  temporaryDataDir,
  type AtEnd,
} from '../support/processes.ts';
import { createEmptyDatabase } from './empty-database.ts';

const MASTER_KEY = randomBytes(32).toString('base64');
const MIGRATE = 'src/app/commands/migrate.ts';
const SEED = 'src/app/commands/seed.ts';

async function client(url: string): Promise<pg.Client> {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  onTestFinished(() => connection.end());
  return connection;
}

async function newEnvironment(
  atEnd: AtEnd = onTestFinished,
): Promise<{ DATABASE_URL: string; MASTER_KEY: string; LOG_LEVEL: string }> {
  return { DATABASE_URL: await createEmptyDatabase(atEnd), MASTER_KEY, LOG_LEVEL: 'error' };
}

describe('node src/app/commands/migrate.ts', { timeout: 90_000 }, () => {
  test('brings an empty database up to date, and then does nothing', async () => {
    const environment = await newEnvironment();
    const first = await runToEnd(environment, MIGRATE);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^migrated: \d{14}_\w+(, \d{14}_\w+)*\n$/);
    const second = await runToEnd(environment, MIGRATE);
    expect(second).toEqual({ code: 0, stderr: '', stdout: 'the schema is up to date\n' });
    const service = await spawnService(environment);
    await newUser(service.api, await newApp(service.api));
  });

  test('works on the embedded database, and reports a running service', async () => {
    const DATA_DIR = await temporaryDataDir();
    expect(await runToEnd({ DATA_DIR, LOG_LEVEL: 'error' }, MIGRATE)).toMatchObject({ code: 0, stderr: '' });
    const service = await spawnService({ DATA_DIR, LOG_LEVEL: 'error' });
    for (const script of [MIGRATE, SEED]) {
      const { code, stderr } = await runToEnd({ DATA_DIR, LOG_LEVEL: 'error' }, script);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^latchkey: .*in use.*\n$/);
    }
    expect((await service.api.call('GET', '/health')).status).toBe(200);
  });

  test('waits for the migration lock without a transaction that blocks concurrent index builds', async () => {
    const environment = await newEnvironment();
    const holder = await client(environment.DATABASE_URL);
    // Like a process that migrates.
    await holder.query('begin; select pg_advisory_xact_lock(7016996765)');
    const migrating = runToEnd(environment, MIGRATE);
    const watcher = await client(environment.DATABASE_URL);
    const seen = new Set<string>();
    const looked = async () => {
      const { rows } = await watcher.query<{ began: string }>(
        `select xact_start::text as began from pg_stat_activity where datname = current_database()
         and xact_start is not null and pid <> pg_backend_pid() and pid <> $1`,
        [(holder as unknown as { readonly processID: number }).processID],
      );
      for (const { began } of rows) seen.add(began);
      return seen.size;
    };
    await expect.poll(looked, { interval: 5 }).toBeGreaterThan(3);
    await holder.query('rollback');
    expect(await migrating).toMatchObject({ code: 0, stderr: '' });
  });

  test('leaves no locks and no partial changes when it is killed', async () => {
    const environment = await newEnvironment();
    const blocker = await client(environment.DATABASE_URL);
    // A table of the migration in an open transaction, for which the migration has to wait.
    await blocker.query('begin; create table plans (blocked int)');
    const migrating = spawnProgram(environment, MIGRATE);
    const watcher = await client(environment.DATABASE_URL);
    for (let waited = 0; ; waited += 20) {
      const { rows } = await watcher.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
         and query ilike '%create table plans%'`,
      );
      if (rows.length > 0) break;
      if (waited > 10_000) throw new Error('the migration did not get there');
      await delay(20);
    }
    expect(await migrating.end('SIGKILL')).toBeNull();
    await blocker.query('rollback');
    const began = performance.now();
    const service = await spawnService(environment);
    console.log(`start after a migration was killed: ${(performance.now() - began).toFixed(0)} ms`);
    await newUser(service.api, await newApp(service.api));
    const { rows } = await watcher.query<{ name: string }>('select name from schema_migrations');
    expect(rows.length).toBe(new Set(rows.map(({ name }) => name)).size);
  });
});

describe('two services that start at once on one empty database', { timeout: 90_000 }, () => {
  test.concurrent.for([1, 2, 3])(
    'both start with the same state (%i)',
    async (_round, { onTestFinished: atEnd }) => {
      const environment = await newEnvironment(atEnd);
      const [one, other] = await Promise.all([
        spawnService(environment, atEnd),
        spawnService(environment, atEnd),
      ]);
      const app = await newApp(one.api);
      await newUser(other.api, app);
      expect(one.output().stderr + other.output().stderr).toBe('');
    },
  );

  test.each([
    ['nothing', false],
    ['its developer only', true],
  ])('with %s of the demo, they create one demo application', async (_what, withDeveloper) => {
    const environment = { ...(await newEnvironment()), PORT: '0' };
    const services: RunningService[] = [];
    for (let n = 0; n < 2; n += 1) {
      const service = await startService(loadConfig(environment), createLogger('silent'));
      onTestFinished(() => service.stop());
      services.push(service);
    }
    if (withDeveloper) {
      const account = { email: 'demo@latchkey.example', password: 'a developer password' };
      await services[0]!.services.developers.register(account, { address: '127.0.0.1' });
    }
    // In one process, they are certain to run concurrently.
    const demos = await Promise.allSettled(
      services.map((service) => prepareDemo(service.services, service.database.knex, systemRandom)),
    );
    expect(
      demos.map(({ status }) => status),
      JSON.stringify(demos),
    ).toEqual(['fulfilled', 'fulfilled']);
    const [one, other] = demos.map((demo) => (demo as PromiseFulfilledResult<Demo>).value);
    expect(other!.appId).toBe(one!.appId);
    expect(other!.licenseKeys.toSorted()).toEqual(one!.licenseKeys.toSorted());
  });
});

describe('a signal just after the service listens', { timeout: 90_000 }, () => {
  test('ends it cleanly, even while it creates the demo', async () => {
    const environment = { ...(await newEnvironment()), DEMO: 'on' };
    const port = await freePort();
    const starting = spawnProgram({ ...environment, PORT: String(port) });
    for (let waited = 0; waited < 15_000; waited += 2) {
      const open = await new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1');
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
        socket.once('connect', () => socket.destroy());
      });
      if (open) break;
      await delay(2);
    }
    const code = await starting.end('SIGTERM');
    expect({ code, stderr: starting.output().stderr }).toEqual({ code: 0, stderr: '' });
    // Nothing that it left behind prevents the next start.
    const next = await spawnService(environment);
    expect(next.output().stdout.match(/license key/g)).toHaveLength(3);
  });
});

describe('node src/app/commands/seed.ts', { timeout: 90_000 }, () => {
  test('creates the demo once, and shows it again', async () => {
    const environment = { ...(await newEnvironment()), PORT: '3111' };
    const first = await runToEnd(environment, SEED);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const second = await runToEnd(environment, SEED);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    const shown = (text: string) =>
      text.split('\n').filter((line) => /^ {2}(app_id|secret|license key)/.test(line));
    expect(shown(first.stdout)).toHaveLength(5);
    expect(shown(second.stdout).toSorted()).toEqual(shown(first.stdout).toSorted());
    expect(first.stdout).toContain('http://127.0.0.1:3111/api/v1/client/init');
    expect(first.stdout).toMatch(/demo@latchkey\.example \/ \S+/);
    expect(second.stdout).not.toMatch(/demo@latchkey\.example \/ \S+/);

    const service = await spawnService({ ...environment, PORT: '0' });
    const [, appId] = /app_id +(\S+)/.exec(first.stdout)!;
    const [, secret] = /secret +(\S+)/.exec(first.stdout)!;
    expect((await service.api.init({ app_id: appId!, secret: secret! })).status).toBe(200);
  });

  test('prints usable addresses for any HOST', async () => {
    const environment = await newEnvironment();
    for (const [HOST, address] of [
      ['::1', 'http://[::1]:3111'],
      ['0.0.0.0', 'http://127.0.0.1:3111'],
    ] as const) {
      const { stdout } = await runToEnd({ ...environment, HOST, PORT: '3111' }, SEED);
      expect(stdout).toContain(`${address}/api/v1/client/init`);
    }
  });

  test('SIGINT in the middle leaves no database server behind', async () => {
    const DATA_DIR = await temporaryDataDir();
    const seeding = spawnProgram({ DATA_DIR, LOG_LEVEL: 'error' }, SEED);
    for (let waited = 0; waited < 15_000 && !(await postmasterOf(DATA_DIR)); waited += 5) await delay(5);
    await seeding.end('SIGINT');
    await expect.poll(() => postmasterOf(DATA_DIR)).toBeUndefined();
    await delay(500);
    expect(await postmasterOf(DATA_DIR)).toBeUndefined();
  });
});
