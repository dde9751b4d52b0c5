import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import { createTestDatabase } from '../support/database.ts';
import { spawnService, type ServiceProcess } from '../support/processes.ts';
import { ADMIN_TOKEN } from '../support/service.ts';
import { LightClient, PatientClient } from './load.ts';

export interface TwoProcesses {
  readonly databaseUrl: string;
  readonly services: readonly [ServiceProcess, ServiceProcess];
  readonly clients: readonly [LightClient, LightClient];
  /** The clients of both processes alternately. */
  readonly client: (turn: number) => LightClient;
  /** Queries the database directly, for what no operation returns. */
  readonly sql: <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>;
}

/**
 * Two processes of the service on one database, for the calling test file.
 * @param settings additional settings of both
 * @param Client `LightClient` to test 503. The default retries on a busy machine
 */
export async function startTwoProcesses(
  settings: Record<string, string> = {},
  Client: typeof LightClient = PatientClient,
): Promise<TwoProcesses> {
  const databaseUrl = await createTestDatabase();
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  atFileEnd(async () => {
    // The service reports a deadlock as a 503, which a patient client retries.
    const { rows } = await database.query<{ deadlocks: number }>(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    await database.end();
    expect(rows[0]!.deadlocks, 'transactions that locked each other out').toBe(0);
  });
  const environment = {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: randomBytes(32).toString('base64'),
    ADMIN_TOKEN,
    LOG_LEVEL: 'error',
    ...settings,
  };
  const services = await Promise.all([
    spawnService(environment, atFileEnd),
    spawnService(environment, atFileEnd),
  ]);
  const clients = [new Client(services[0].api.baseUrl), new Client(services[1].api.baseUrl)] as const;
  return {
    databaseUrl,
    services,
    clients,
    client: (turn) => clients[turn % 2 === 0 ? 0 : 1],
    sql: async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
      (await database.query<Row>(text, values)).rows,
  };
}

/**
 * Copies a user under other names in the database, because a registration costs a password hash each.
 * @returns the names
 */
export async function copyUser(
  { sql }: Pick<TwoProcesses, 'sql'>,
  appId: string,
  username: string,
  amount: number,
): Promise<string[]> {
  const rows = await sql<{ username: string }>(
    `insert into users (user_id, app_id, username, username_key, role, password_hash, hwid_digest, created_at)
     select u.user_id || '-' || n, u.app_id, u.username || '-' || n, u.username_key || '-' || n, u.role,
       u.password_hash, u.hwid_digest, u.created_at
     from users u, generate_series(1, $3) n where u.app_id = $1 and u.username = $2
     returning username`,
    [appId, username, amount],
  );
  await sql('update application_usage set users = users + $2 where app_id = $1', [appId, amount]);
  return rows.map((row) => row.username);
}
