import type { Knex } from 'knex';

/** The version of the server, and the size of the database in bytes. */
export async function findDatabaseFacts(
  db: Knex,
): Promise<{ readonly version: string; readonly size_bytes: number }> {
  const { rows } = await db.raw<{ rows: { version: string; size_bytes: number }[] }>(
    `select current_setting('server_version') as version, pg_database_size(current_database()) as size_bytes`,
  );
  return rows[0]!;
}
