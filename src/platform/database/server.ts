import pg from 'pg';
import { StartupError } from '../startup-error.ts';

const OLDEST_VERSION = 140_000;
const CONNECT_WITHIN_MS = 5_000;

/**
 * Makes sure that a PostgreSQL answers at this address and is new enough (14).
 *
 * @param databaseUrl as in DATABASE_URL; its password never gets into an error
 * @throws StartupError when the address is not one, nobody answers within 5 s, or the server is too old
 */
export async function checkServer(databaseUrl: string): Promise<void> {
  const client = parseUrl(databaseUrl);
  client.on('error', () => {});
  let version: number;
  try {
    await client.connect();
    const answer = await client.query<{ server_version_num: string }>('SHOW server_version_num');
    version = Number(answer.rows[0]?.server_version_num);
  } catch (error) {
    throw new StartupError(
      `The database in DATABASE_URL (${client.host}:${client.port}, database ${client.database}) cannot be used: ${reason(error)}.`,
    );
  } finally {
    void client.end().catch(() => {});
  }
  if (!(version >= OLDEST_VERSION)) {
    throw new StartupError(
      `The database in DATABASE_URL is PostgreSQL ${Math.floor(version / 10_000)}; Latchkey needs 14 or later.`,
    );
  }
}

function parseUrl(databaseUrl: string): pg.Client {
  if (!/^(postgres(ql)?|socket):/.test(databaseUrl)) throw invalidUrl();
  try {
    return new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: CONNECT_WITHIN_MS,
    });
  } catch {
    // The error holds the whole address, password included.
    throw invalidUrl();
  }
}

function invalidUrl(): StartupError {
  return new StartupError(
    'DATABASE_URL is not an address of a PostgreSQL, such as postgresql://user:password@host:5432/latchkey.',
  );
}

/** A name that resolves to several addresses fails with one error for each, and no message of its own. */
function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ');
  return error instanceof Error ? error.message : String(error);
}
