import type { Knex } from 'knex';
import { isUniqueViolation } from '../platform/database/errors.ts';

export interface UserRow {
  readonly user_id: string;
  readonly app_id: string;
  readonly username: string;
  readonly username_key: string;
  readonly email: string | null;
  readonly role: string;
  /** Null for a user who logs in with a licence key alone. */
  readonly password_hash: string | null;
  /** The licence whose first login made the user. */
  readonly license_id: string | null;
  readonly hwid_digest: Buffer | null;
  readonly created_at: Date;
}

export async function findUser(db: Knex, appId: string, usernameKey: string): Promise<UserRow | undefined> {
  return db<UserRow>('users').where({ app_id: appId, username_key: usernameKey }).first();
}

export async function findUserById(db: Knex, userId: string): Promise<UserRow | undefined> {
  return db<UserRow>('users').where({ user_id: userId }).first();
}

/** Reads a user and holds the row until the transaction ends: one user's logins and redemptions run one by one. */
export async function lockUser(trx: Knex.Transaction, userId: string): Promise<UserRow | undefined> {
  return trx<UserRow>('users').where({ user_id: userId }).forNoKeyUpdate().first();
}

/** @returns false when the application has a user of this name already */
export async function insertUser(
  trx: Knex.Transaction,
  row: Omit<UserRow, 'role' | 'license_id'>,
): Promise<boolean> {
  try {
    await trx('users').insert(row);
    return true;
  } catch (error) {
    if (isUniqueViolation(error, 'users_username_key')) return false;
    throw error;
  }
}

/** Notes the licence whose first login made a user. */
export async function noteLicense(trx: Knex.Transaction, userId: string, licenseId: string): Promise<void> {
  await trx('users').where({ user_id: userId }).update({ license_id: licenseId });
}

/** @param hwidDigest null for no machine */
export async function bindHwid(
  trx: Knex.Transaction,
  userId: string,
  hwidDigest: Buffer | null,
): Promise<void> {
  await trx('users').where({ user_id: userId }).update({ hwid_digest: hwidDigest });
}

/** Replaces a hash by one with newer parameters, unless the password was changed in the meantime. */
export async function replacePasswordHash(db: Knex, user: UserRow, passwordHash: string): Promise<void> {
  await db('users')
    .where({ user_id: user.user_id, password_hash: user.password_hash })
    .update({ password_hash: passwordHash });
}

/** Deletes some users of an application with their sessions and subscriptions. @returns how many */
export async function deleteUsersOfApplication(db: Knex, appId: string, limit: number): Promise<number> {
  const some = db('users').where({ app_id: appId }).limit(limit).select('user_id');
  return db('users').whereIn('user_id', some).delete();
}
