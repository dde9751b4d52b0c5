import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/platform/database/index.ts';
import { detectPooler } from '../../../src/platform/database/pooler.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import pg from 'pg';
import { atFileEnd } from '../../support/at-file-end.ts';
import { newApp, newSession } from '../../support/fixtures.ts';
import { connectTo, createTestDatabase } from '../../support/database.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { startTestService } from '../../support/service.ts';
import { pgbouncerVersion, startPgbouncer } from './support/pgbouncer.ts';

const logger = createLogger('silent');
const dataDir = await temporaryFolder(atFileEnd);
const version = pgbouncerVersion();
const prepares = version !== undefined && (version[0] > 1 || version[1] >= 21);
const PREPARING: Record<string, number> = prepares ? { max_prepared_statements: 100 } : {};

test('there is a PgBouncer to test with', () => {
  expect(version, 'apt-get install pgbouncer, or PGBOUNCER=path').toBeDefined();
});

describe('in session mode', () => {
  test('everything works without further settings, and sessions keep theirs', async () => {
    const direct = await createTestDatabase();
    const databaseUrl = await startPgbouncer(direct, { pool_mode: 'session' }, atFileEnd);
    const { api, database } = await startTestService(
      { DATABASE_URL: databaseUrl },
      { statementTimeoutMs: 2_000 },
    );
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => api.verify({ app_id: app.app_id, token })),
    );
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    const { rows } = await database.pool.query<Record<string, string>>(
      `select current_setting('TimeZone') as zone, current_setting('statement_timeout') as limit,
         current_setting('client_connection_check_interval') as checked, current_setting('plan_cache_mode') as plans`,
    );
    expect(rows[0]).toEqual({ zone: 'UTC', limit: '1900ms', checked: '1s', plans: 'force_generic_plan' });
  });
});

describe('in transaction mode', () => {
  let direct: string;
  let pooled: string;

  beforeAll(async () => {
    direct = await createTestDatabase();
    pooled = await startPgbouncer(direct, { pool_mode: 'transaction', ...PREPARING }, atFileEnd);
  });

  const open = (directUrl?: string) => openDatabase({ databaseUrl: pooled, directUrl, dataDir, logger });
  const detect = async (url: string) => {
    const first = new pg.Client({ connectionString: url });
    await first.connect();
    onTestFinished(() => first.end());
    return detectPooler(first, () => new pg.Client({ connectionString: url }));
  };

  test('it is detected', async () => {
    expect(await detect(pooled)).toEqual({ shares: 'transactions', preparesStatements: prepares });
    expect(await detect(direct)).toMatchObject({ shares: 'none' });
  });

  test('it is also detected if it assigns its connections in rotation', async () => {
    const url = await startPgbouncer(direct, { pool_mode: 'transaction', server_round_robin: 1 }, atFileEnd);
    for (let round = 0; round < 3; round += 1) expect((await detect(url)).shares).toBe('transactions');
  });

  test('as the direct address it is refused', async () => {
    await expect(openDatabase({ databaseUrl: direct, directUrl: pooled, dataDir, logger })).rejects.toThrow(
      /^DATABASE_DIRECT_URL leads to a pooler/,
    );
  });

  if (prepares) test('it needs a direct address, limits of the account, and then works', works);
  else test('without prepared statements it is refused, with a line that says why', isRefused);

  async function isRefused() {
    await expect(open(direct)).rejects.toThrow(
      /^DATABASE_URL leads to a pooler in transaction mode without prepared statements: use PgBouncer 1\.21/,
    );
  }

  async function works() {
    await expect(open()).rejects.toThrow(/^DATABASE_DIRECT_URL must be set/);
    const refusal = await open(direct).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refusal).toMatch(
      /^DATABASE_URL leads to a pooler in transaction mode, whose sessions do not keep our settings/,
    );
    expect(refusal).not.toContain('\n');
    const client = await connectTo(direct);
    const statements = refusal.slice(refusal.indexOf('ALTER ROLE'));
    await client.query(statements);
    pooled = await startPgbouncer(direct, { pool_mode: 'transaction', ...PREPARING }, atFileEnd);

    const service = await startTestService({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct });
    const { api, database } = service;
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => api.verify({ app_id: app.app_id, token })),
    );
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    const seen = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { rows } = await database.knex.raw<{ rows: Record<string, string>[] }>(
          `select current_setting('TimeZone') as zone, current_setting('statement_timeout') as limit`,
        );
        return rows[0];
      }),
    );
    for (const each of seen) expect(each).toEqual({ zone: 'UTC', limit: '1900ms' });
  }
});
