import knexLibrary, { type Knex } from 'knex';

/** Queries the database of a service that runs in another process. The caller destroys it. */
export const openPool = (databaseUrl: string): Knex =>
  knexLibrary.knex({ client: 'pg', connection: databaseUrl, pool: { max: 2 } });
