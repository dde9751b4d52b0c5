import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { AtEnd } from '../support/processes.ts';
import { databaseUrl } from '../support/postgres-server.ts';

/** Creates an empty database. @returns its URL, for `DATABASE_URL` */
export async function createEmptyDatabase(atEnd: AtEnd): Promise<string> {
  const server = inject('postgres');
  const name = `empty_${randomBytes(8).toString('hex')}`;
  await administer(`create database ${name}`);
  atEnd(() => administer(`drop database if exists ${name} with (force)`));
  return databaseUrl(server, name);
}

async function administer(statement: string): Promise<void> {
  const { host, port, user } = inject('postgres');
  const admin = new pg.Client({ host, port, user, database: 'postgres' });
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}
