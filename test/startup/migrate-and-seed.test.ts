import { systemRandom } from '../../src/platform/random.ts';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { prepareDemo, type Demo } from '../../src/app/demo/demo.ts';
import { migrate } from '../../src/migrations/index.ts';
import { openDatabase } from '../../src/platform/database/index.ts';
import { serve } from '../../src/app/serve.ts';
import { withServices } from '../../src/app/service.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { newApp, newSession, newUser } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import {
  postmasterOf,
  runToEnd,
  spawnProgram,
  spawnService,
  temporaryDataDir,
  type AtEnd,
} from '../support/processes.ts';
import { MASTER_KEY } from '../support/service.ts';
import { createEmptyDatabase } from './empty-database.ts';
import { collectLog } from '../support/collected-log.ts';
import { startHere } from './start-here.ts';

const MIGRATE = 'src/app/commands/migrate.ts';
const SEED = 'src/app/commands/seed.ts';

/** Of the embedded database. Its creation is the most expensive part of a start. */
const DATA_DIR = await temporaryDataDir(atFileEnd);

const settingsFor = (DATABASE_URL: string) => ({ DATABASE_URL, MASTER_KEY, LOG_LEVEL: 'error' });

describe('node src/app/commands/migrate.ts', () => {
  test('brings an empty database up to date, and then does nothing', async () => {
    const environment = settingsFor(await createEmptyDatabase(atFileEnd));
    const first = await runToEnd(environment, MIGRATE);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^migrated: \d{14}_\w+(, \d{14}_\w+)*\n$/);
    const second = await runToEnd(environment, MIGRATE);
    expect(second).toEqual({ code: 0, stderr: '', stdout: 'the schema is up to date\n' });
    const service = await startHere(environment);
    await newUser(service.api, await newApp(service.api));
  });

  test('works on the embedded database, and reports a running service', async () => {
    const environment = { DATA_DIR, LOG_LEVEL: 'error' };
    expect(await runToEnd(environment, MIGRATE)).toMatchObject({ code: 0, stderr: '' });
    const service = await startHere({ ...environment, DATABASE_URL: '' });
    for (const script of [MIGRATE, SEED]) {
      const { code, stderr } = await runToEnd(environment, script);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^latchkey: .*in use.*\n$/);
    }
    expect((await service.api.call('GET', '/health')).status).toBe(200);
  });

  test('leaves no locks and no partial changes when it is killed', async () => {
    const environment = settingsFor(await createEmptyDatabase(atFileEnd));
    const blocker = await connectTo(environment.DATABASE_URL);
    // A table of the migration in an open transaction, for which the migration has to wait.
    await blocker.query('begin; create table plans (blocked int)');
    const migrating = spawnProgram(environment, MIGRATE);
    const watcher = await connectTo(environment.DATABASE_URL);
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
    const service = await startHere(environment);
    console.log(`start after a migration was killed: ${(performance.now() - began).toFixed(0)} ms`);
    await newUser(service.api, await newApp(service.api));
    const { rows } = await watcher.query<{ name: string }>('select name from schema_migrations');
    expect(rows.length).toBe(new Set(rows.map(({ name }) => name)).size);
  });
});

describe('migrating', () => {
  test('waits for the migration lock without a transaction that blocks concurrent index builds', async () => {
    const url = await createEmptyDatabase(atFileEnd);
    const holder = await connectTo(url);
    // Like a process that migrates.
    await holder.query('begin; select pg_advisory_xact_lock(7016996765)');
    const { logger, lines } = collectLog();
    const database = await openDatabase({ databaseUrl: url, dataDir: 'unused', logger });
    const migrating = database.withStatementTimeout(0, ({ knex }) => migrate(knex));
    const watcher = await connectTo(url);
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
    const ran = await migrating;
    await database.close();
    const { rows } = await watcher.query<{ name: string }>('select name from schema_migrations');
    expect(ran).not.toEqual([]);
    expect(rows.map(({ name }) => name).toSorted()).toEqual(ran);
    expect(lines).toEqual([]);
  });
});

/** Two services on one database, and what they write to their logs. */
async function startTwoHere(environment: Record<string, string>, atEnd: AtEnd) {
  const { logger, lines } = collectLog();
  const [one, other] = await Promise.all([
    startHere(environment, { logger, atEnd }),
    startHere(environment, { logger, atEnd }),
  ]);
  return { one, other, logged: () => lines.join('') };
}

describe('two services that start at once on one empty database', () => {
  test.concurrent.for([1, 2, 3])(
    'both start with the same state (%i)',
    async (round, { onTestFinished: atEnd }) => {
      const environment = settingsFor(await createEmptyDatabase(atFileEnd));
      const startTwoProcesses = async () => {
        const [one, other] = await Promise.all([
          spawnService(environment, atEnd),
          spawnService(environment, atEnd),
        ]);
        return { one, other, logged: () => one.output().stderr + other.output().stderr };
      };
      // Processes run at the same time, and services in one process alternate at every wait.
      const { one, other, logged } = await (round === 1
        ? startTwoProcesses()
        : startTwoHere(environment, atEnd));
      const app = await newApp(one.api);
      await newUser(other.api, app);
      expect(logged()).toBe('');
    },
  );

  test('with some keys of the installation missing, they create each key once', async () => {
    const url = await createTestDatabase();
    const database = await connectTo(url);
    const environment = { ...settingsFor(url), DEMO: 'off' };
    await (await startHere(environment)).stop();
    for (let round = 1; round <= 3; round += 1) {
      await database.query(
        "delete from data_keys where purpose in ('token-encryption', 'token-signing', 'hwid-hmac')",
      );
      const { one, other, logged } = await startTwoHere(environment, onTestFinished);
      const app = await newApp(one.api);
      const { token } = await newSession(one.api, app);
      expect((await other.api.verify({ app_id: app.app_id, token })).status).toBe(200);
      const { rows } = await database.query(
        'select purpose from data_keys group by purpose having count(*) > 1',
      );
      expect({ rows, logged: logged() }).toEqual({ rows: [], logged: '' });
      await Promise.all([one.stop(), other.stop()]);
    }
  });

  test.each([
    ['nothing', false],
    ['its developer only', true],
  ])('with %s of the demo, they create one demo application', async (_what, withDeveloper) => {
    const environment = settingsFor(await createTestDatabase());
    const { one: first, other: second } = await startTwoHere(environment, onTestFinished);
    const services = [first, second];
    if (withDeveloper) {
      const account = { email: 'demo@latchkey.example', password: 'a developer password' };
      await first.services.developers.register(account, { address: '127.0.0.1' });
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

describe('a signal just after the service listens', () => {
  test('ends it cleanly, even while it creates the demo', async () => {
    const environment = { ...settingsFor(await createTestDatabase()), DEMO: 'on' };
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
    const { logger, lines } = collectLog();
    const { service, banner } = await serve(loadConfig({ ...environment, PORT: '0' }), logger);
    onTestFinished(() => service.stop());
    expect(banner.match(/license key/g)).toHaveLength(3);
    expect(lines).toEqual([]);
  });
});

describe('node src/app/commands/seed.ts', () => {
  const PORT = '3111';
  let environment: ReturnType<typeof settingsFor>;
  /** Two runs on one database, for any address and for an IPv6 address. */
  let runs: Awaited<ReturnType<typeof runToEnd>>[];

  beforeAll(async () => {
    environment = settingsFor(await createTestDatabase());
    runs = [];
    for (const HOST of ['0.0.0.0', '::1']) runs.push(await runToEnd({ ...environment, HOST, PORT }, SEED));
  });

  test('creates the demo once, and shows it again', async () => {
    const [first, second] = runs as [(typeof runs)[0], (typeof runs)[0]];
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(second).toMatchObject({ code: 0, stderr: '' });
    const shown = (text: string) =>
      text.split('\n').filter((line) => /^ {2}(app_id|secret|license key)/.test(line));
    expect(shown(first.stdout)).toHaveLength(5);
    expect(shown(second.stdout).toSorted()).toEqual(shown(first.stdout).toSorted());
    expect(first.stdout).toMatch(/demo@latchkey\.example \/ \S+/);
    expect(second.stdout).not.toMatch(/demo@latchkey\.example \/ \S+/);

    const { api } = await startHere(environment);
    const [, appId] = /app_id +(\S+)/.exec(first.stdout)!;
    const [, secret] = /secret +(\S+)/.exec(first.stdout)!;
    expect((await api.init({ app_id: appId!, secret: secret! })).status).toBe(200);
  });

  test('prints usable addresses for any HOST', async () => {
    const [everywhere, ipv6] = runs.map(({ stdout }) => stdout);
    expect(everywhere).toContain('http://127.0.0.1:3111/api/v1/client/init');
    expect(ipv6).toContain('http://[::1]:3111/api/v1/client/init');
    const { logger } = collectLog();
    await withServices(
      loadConfig({ ...environment, PORT }),
      logger,
      async (_services, _database, baseUrl) => {
        expect(baseUrl, 'by default').toBe('http://127.0.0.1:3111');
      },
    );
  });

  test('SIGINT in the middle leaves no database server behind', async () => {
    const seeding = spawnProgram({ DATA_DIR, LOG_LEVEL: 'error' }, SEED);
    for (let waited = 0; waited < 15_000 && !(await postmasterOf(DATA_DIR)); waited += 5) await delay(5);
    await seeding.end('SIGINT');
    await expect.poll(() => postmasterOf(DATA_DIR)).toBeUndefined();
    await delay(500);
    expect(await postmasterOf(DATA_DIR)).toBeUndefined();
  });
});
