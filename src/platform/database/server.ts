import pg from 'pg';
import { StartupError } from '../startup-error.ts';
import { parseConnectionUrl } from './connection-url.ts';
import { detectPooler } from './pooler.ts';
import { CHECK_INTERVAL, CHECKED_EVERY_MS, FORMAT, KEPT_BY_POOLERS, limitsFor } from './session.ts';

const OLDEST_VERSION = 140_000;
const CONNECT_WITHIN_MS = 5_000;

/** The addresses of the database, and what its sessions support. */
export interface Server {
  /** In the form of pg. */
  readonly connection: pg.ClientConfig;
  /** The direct address, for features that belong to a session. */
  readonly direct: pg.ClientConfig;
  /** Whether a pooler assigns each transaction of `connection` another backend. */
  readonly sharesBackends: boolean;
  /** Whether a backend can check that its client is still connected; not on every platform. */
  readonly checksClients: boolean;
}

/**
 * Checks that a PostgreSQL server responds at these addresses, has version 14 or later, accepts writes, and that its
 * sessions have the limits that a node relies on.
 *
 * @param databaseUrl as in DATABASE_URL; its password never appears in an error
 * @param directUrl as in DATABASE_DIRECT_URL
 * @param statementTimeoutMs the time limit of a statement
 * @throws StartupError one line about the fault: no address, no response within 5 s, a server that is too old or
 *   read-only, or an unsuitable pooler
 */
export async function checkServer(
  databaseUrl: string,
  directUrl: string | undefined,
  statementTimeoutMs: number,
): Promise<Server> {
  const connection = parseConnectionUrl('DATABASE_URL', databaseUrl);
  const direct = directUrl === undefined ? connection : parseConnectionUrl('DATABASE_DIRECT_URL', directUrl);

  const { checksClients, identity, pooler } = await withClient(
    'DATABASE_URL',
    connection,
    async (client) => ({
      checksClients: await assertUsable(client),
      identity: directUrl === undefined ? undefined : await identityOf(client),
      pooler: await detectPooler(client, () => clientOf(connection)),
    }),
  );
  if (directUrl !== undefined) {
    await withClient('DATABASE_DIRECT_URL', direct, async (client) => {
      await assertUsable(client, 'DATABASE_DIRECT_URL');
      if ((await identityOf(client)) !== identity)
        throw refusal('DATABASE_DIRECT_URL leads to another database than DATABASE_URL');
      const { shares } = await detectPooler(client, () => clientOf(direct));
      if (shares !== 'none') {
        throw refusal(
          'DATABASE_DIRECT_URL leads to a pooler that shares sessions: it must lead to PostgreSQL itself',
        );
      }
    });
  }
  const sharesBackends = pooler.shares !== 'none';
  if (sharesBackends && !pooler.preparesStatements) {
    throw refusal(
      'DATABASE_URL leads to a pooler in transaction mode without prepared statements: use PgBouncer 1.21 or later ' +
        'with max_prepared_statements above 0, or pool_mode = session',
    );
  }
  if (sharesBackends && directUrl === undefined) {
    throw refusal(
      'DATABASE_DIRECT_URL must be set, because DATABASE_URL leads to a pooler in transaction mode: ' +
        'set it to PostgreSQL itself, for LISTEN and migrations',
    );
  }
  if (sharesBackends) {
    await withClient('DATABASE_URL', connection, (client) =>
      assertLimits(client, statementTimeoutMs, checksClients),
    );
  }
  return { connection, direct, sharesBackends, checksClients };
}

/** @returns whether a backend can check that its client is still connected */
async function assertUsable(client: pg.Client, setting = 'DATABASE_URL'): Promise<boolean> {
  const result = await client.query<{ server_version_num: string }>('SHOW server_version_num');
  const version = Number(result.rows[0]?.server_version_num);
  if (!(version >= OLDEST_VERSION)) {
    const major = Math.floor(version / 10_000);
    throw refusal(`The database in ${setting} is PostgreSQL ${major}; Latchkey requires 14 or later.`);
  }
  const { rows } = await client.query<{ standby: boolean; read_only: string }>(
    `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as read_only`,
  );
  const { standby, read_only } = rows[0]!;
  if (standby)
    throw refusal(`The database in ${setting} is a standby, which is read-only: set it to the primary.`);
  if (read_only === 'on') {
    throw refusal(
      `The database in ${setting} is read-only: default_transaction_read_only is on for the database, for this ` +
        'account or in the address.',
    );
  }
  try {
    await client.query('select set_config($1, $2, true)', [CHECK_INTERVAL, String(CHECKED_EVERY_MS)]);
    return true;
  } catch {
    return false;
  }
}

async function identityOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ identity: string }>(
    `select current_database() || ' ' || oid || ' ' || pg_postmaster_start_time() as identity
     from pg_database where datname = current_database()`,
  );
  return rows[0]!.identity;
}

/** Settings that cannot be set for a shared session must be set for the account. */
async function assertLimits(
  client: pg.Client,
  statementTimeoutMs: number,
  checksClients: boolean,
): Promise<void> {
  const limits: Record<string, string> = { ...limitsFor(statementTimeoutMs) };
  if (checksClients) limits[CHECK_INTERVAL] = String(CHECKED_EVERY_MS);
  const formats = Object.entries(FORMAT).filter(([name]) => !(name in KEPT_BY_POOLERS));
  const { rows } = await client.query<{
    name: string;
    value: string;
    unit: string | null;
    account: string;
    base: string;
  }>(
    `select name, setting as value, unit, quote_ident(current_user) as account, quote_ident(current_database()) as base
     from pg_settings where name = any ($1)`,
    [[...Object.keys(limits), ...formats.map(([name]) => name)]],
  );
  const statements = rows.flatMap(({ name, value, account, base }) => {
    const limit = limits[name];
    const wanted = limit ?? FORMAT[name]!;
    const right =
      limit === undefined ? value === wanted : Number(value) > 0 && Number(value) <= Number(limit);
    return right ? [] : [`ALTER ROLE ${account} IN DATABASE ${base} SET ${name} = '${wanted}';`];
  });
  if (statements.length === 0) return;
  throw refusal(
    'DATABASE_URL leads to a pooler in transaction mode, whose sessions do not keep our settings. Run these ' +
      `statements, and let the pooler reconnect: ${statements.join(' ')}`,
  );
}

async function withClient<Result>(
  setting: string,
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = clientOf(connection);
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    const { host, port, database } = client;
    throw refusal(
      `The database in ${setting} (${host}:${port}, database ${database}) cannot be used: ${reason(error)}.`,
    );
  } finally {
    void client.end().catch(() => {});
  }
}

function clientOf(connection: pg.ClientConfig): pg.Client {
  return new pg.Client({
    ...connection,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: CONNECT_WITHIN_MS,
  });
}

function refusal(line: string): StartupError {
  return new StartupError(line);
}

/** A name that resolves to several addresses fails with one error for each, and without a message. */
function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ');
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}
