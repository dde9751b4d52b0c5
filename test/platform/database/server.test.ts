import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded.ts';
import { openDatabase } from '../../../src/platform/database/index.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { createEmptyDatabase } from '../../startup/empty-database.ts';
import { atFileEnd } from '../../support/at-file-end.ts';
import { connectTo, createTestDatabase } from '../../support/database.ts';
import { newApp, newSession } from '../../support/fixtures.ts';
import { runToEnd, temporaryFolder } from '../../support/processes.ts';
import { startTestService } from '../../support/service.ts';

const dataDir = await temporaryFolder(atFileEnd);
const logger = createLogger('silent');

/** The settings of the service's sessions: of both pools, and of the one without a statement timeout. */
async function settingsOf(databaseUrl: string, names: readonly string[]) {
  const database = await openDatabase({ databaseUrl, dataDir, logger });
  const columns = names.map((name) => `current_setting('${name}') as "${name}"`).join(', ');
  try {
    return [
      (await database.pool.query<Record<string, string>>(`select ${columns}`)).rows[0]!,
      (await database.knex.raw<{ rows: Record<string, string>[] }>(`select ${columns}`)).rows[0]!,
      await database.withStatementTimeout(
        0,
        async ({ pool }) => (await pool.query<Record<string, string>>(`select ${columns}`)).rows[0]!,
      ),
    ] as const;
  } finally {
    await database.close();
  }
}

describe('sessions have the settings that a node relies on, even if others are set', () => {
  const FORMS = {
    TimeZone: 'UTC',
    DateStyle: 'ISO, MDY',
    IntervalStyle: 'postgres',
    bytea_output: 'hex',
    standard_conforming_strings: 'on',
    default_transaction_isolation: 'read committed',
  };
  const LIMITS = {
    statement_timeout: '1900ms',
    lock_timeout: '1800ms',
    idle_in_transaction_session_timeout: '10s',
    client_connection_check_interval: '1s',
  };
  const names = Object.keys({ ...FORMS, ...LIMITS });

  test('by the address', async () => {
    const url = await createEmptyDatabase(atFileEnd);
    const options =
      '-c TimeZone=Asia/Tokyo -c DateStyle=German -c IntervalStyle=iso_8601 -c bytea_output=escape ' +
      '-c statement_timeout=0 -c search_path=pg_catalog';
    const [pool, knex, patient] = await settingsOf(`${url}&${new URLSearchParams({ options })}`, [
      ...names,
      'search_path',
    ]);
    // The operator decides about the settings that we do not rely on.
    for (const each of [pool, knex]) expect(each).toEqual({ ...FORMS, ...LIMITS, search_path: 'pg_catalog' });
    expect(patient).toMatchObject({
      ...FORMS,
      statement_timeout: '0',
      client_connection_check_interval: '1s',
    });
  });

  test('so a new token is valid if the address sets another time zone', async () => {
    const options = '-c TimeZone=Asia/Tokyo -c DateStyle=German';
    const url = `${await createTestDatabase()}&${new URLSearchParams({ options })}`;
    const { api } = await startTestService({ DATABASE_URL: url });
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    expect((await api.verify({ app_id: app.app_id, token })).status).toBe(200);
  });

  test('by the database', async () => {
    const url = await createEmptyDatabase(atFileEnd);
    const name = new URL(url).pathname.slice(1);
    const direct = await connectTo(url);
    for (const [setting, value] of Object.entries({
      TimeZone: 'Asia/Tokyo',
      DateStyle: 'German',
      default_transaction_isolation: 'serializable',
      statement_timeout: '0',
    })) {
      await direct.query(`alter database ${name} set ${setting} = '${value}'`);
    }
    const [pool, knex] = await settingsOf(url, names);
    for (const each of [pool, knex]) expect(each).toEqual({ ...FORMS, ...LIMITS });
  });
});

describe('a database that cannot serve is refused in one line', () => {
  async function refusalOf(url: string, script?: string): Promise<string> {
    const { code, stdout, stderr } = await runToEnd(
      { DATABASE_URL: url, DATA_DIR: dataDir, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
      script,
    );
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^latchkey: [^\n]+\n$/);
    expect(stderr).not.toMatch(/\bat .*\.[jt]s/);
    return stderr;
  }

  test('a read-only one, by every program', async () => {
    const url = await createEmptyDatabase(atFileEnd);
    const name = new URL(url).pathname.slice(1);
    await (await connectTo(url)).query(`alter database ${name} set default_transaction_read_only = on`);
    for (const script of ['src/main.ts', 'src/app/commands/migrate.ts']) {
      expect(await refusalOf(url, script)).toMatch(/DATABASE_URL is read-only/);
    }
  });

  test('a standby, as either address', async () => {
    const folder = await temporaryFolder(atFileEnd);
    const options = { dataDir: folder, logger, settings: { fsync: 'off' } };
    await (await startEmbeddedPostgres(options)).stop();
    await writeFile(join(folder, 'postgres/standby.signal'), '');
    const standby = await startEmbeddedPostgres(options);
    try {
      const { host, user } = standby.connection;
      const url = `postgresql:///latchkey?${new URLSearchParams({ host, user })}`;
      expect(await refusalOf(url, 'src/app/commands/restored.ts')).toMatch(
        /DATABASE_URL is a standby, which is read-only/,
      );
      const databaseUrl = await createEmptyDatabase(atFileEnd);
      await expect(openDatabase({ databaseUrl, directUrl: url, dataDir, logger })).rejects.toThrow(
        /DATABASE_DIRECT_URL is a standby/,
      );
    } finally {
      await standby.stop();
    }
  });

  test('one that the address makes read-only', async () => {
    const url = await createEmptyDatabase(atFileEnd);
    const options = '-c default_transaction_read_only=on';
    expect(await refusalOf(`${url}&${new URLSearchParams({ options })}`)).toMatch(/is read-only/);
  });

  test.each([
    'postgresql://me:hunter2@one.example,two.example:5433/latchkey?target_session_attrs=primary',
    'postgresql://me:hunter2@127.0.0.1:1/latchkey?target_session_attrs=standby',
    'postgresql://me:hunter2@127.0.0.1:1/latchkey?service=mine',
  ])('%s', async (url) => {
    expect(await refusalOf(url)).toMatch(/DATABASE_URL/);
  });

  test('a direct address of another database', async () => {
    const [url, other] = [await createEmptyDatabase(atFileEnd), await createEmptyDatabase(atFileEnd)];
    await expect(openDatabase({ databaseUrl: url, directUrl: other, dataDir, logger })).rejects.toThrow(
      /^DATABASE_DIRECT_URL leads to another database/,
    );
  });
});
