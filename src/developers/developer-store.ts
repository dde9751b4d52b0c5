import type { Knex } from 'knex';
import { isUniqueViolation } from '../platform/database/errors.ts';

export interface DeveloperRow {
  readonly developer_id: string;
  readonly email: string;
  readonly email_key: string;
  readonly name: string | null;
  readonly password_hash: string;
  readonly plan_id: string;
  readonly created_at: Date;
}

export interface DeveloperSessionRow {
  readonly token_digest: Buffer;
  readonly developer_id: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export async function findDeveloper(db: Knex, emailKey: string): Promise<DeveloperRow | undefined> {
  return db<DeveloperRow>('developers').where({ email_key: emailKey }).first();
}

/** @returns false when there is an account with this address already */
export async function insertDeveloper(trx: Knex.Transaction, row: DeveloperRow): Promise<boolean> {
  try {
    await trx('developers').insert(row);
    return true;
  } catch (error) {
    if (isUniqueViolation(error, 'developers_email_key')) return false;
    throw error;
  }
}

/** Replaces a hash by one with newer parameters, unless the password was changed in the meantime. */
export async function replacePasswordHash(
  db: Knex,
  developer: DeveloperRow,
  passwordHash: string,
): Promise<void> {
  await db('developers')
    .where({ developer_id: developer.developer_id, password_hash: developer.password_hash })
    .update({ password_hash: passwordHash });
}

export async function insertDeveloperSession(db: Knex, row: DeveloperSessionRow): Promise<void> {
  await db('developer_sessions').insert(row);
}

export async function findDeveloperSession(
  db: Knex,
  tokenDigest: Buffer,
): Promise<DeveloperSessionRow | undefined> {
  return db<DeveloperSessionRow>('developer_sessions').where({ token_digest: tokenDigest }).first();
}

/** Counts one more application unless the plan has no room. @returns whether it had */
export async function takeApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<boolean> {
  const taken = await trx.raw<{ rowCount: number }>(
    `update developers set apps = developers.apps + 1 from plans p
     where developers.developer_id = ? and p.plan_id = developers.plan_id and developers.apps < p.max_apps`,
    [developerId],
  );
  return taken.rowCount === 1;
}

export async function returnApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void> {
  await trx('developers').where({ developer_id: developerId }).decrement('apps', 1);
}

/** Deletes sessions that expired. @returns how many */
export async function clearExpiredSessions(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('developer_sessions')
    .where('expires_at', '<', expiredBefore)
    .limit(limit)
    .select('token_digest');
  return db('developer_sessions').whereIn('token_digest', some).delete();
}
