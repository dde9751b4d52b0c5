import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { atFileEnd } from './at-file-end.ts';
import { databaseUrl, TEMPLATE } from './postgres-server.ts';

/** Creates a migrated database for the calling test file. @returns its URL, for `DATABASE_URL` */
export async function createTestDatabase(): Promise<string> {
  const server = inject('postgres');
  const name = `test_${randomBytes(8).toString('hex')}`;
  // The other strategy, by the write-ahead log, would take several times as long.
  await asAdmin((admin) => admin.query(`create database ${name} template ${TEMPLATE} strategy file_copy`));
  atFileEnd(() => asAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`)));
  return databaseUrl(server, name);
}

/** Copies a database without other connections, for the calling test file. @returns its URL */
export async function copyDatabase(url: string): Promise<string> {
  const source = new URL(url.replace('postgresql:///', 'postgresql://host/')).pathname.slice(1);
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdmin((admin) => admin.query(`create database ${name} template ${source} strategy file_copy`));
  atFileEnd(() => asAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`)));
  return databaseUrl(inject('postgres'), name);
}

/** Queries a database directly, for what no operation returns. The connection ends with the test. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function asAdmin<Result>(work: (admin: pg.Client) => Promise<Result>): Promise<Result> {
  const { host, port, user } = inject('postgres');
  const admin = new pg.Client({ host, port, user, database: 'postgres' });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
