import type { Knex } from 'knex';
import { isUniqueViolation } from '../../platform/database/errors.ts';

/** The unique names of a user within an application. */
const NAME_INDEXES = ['users_username_key', 'users_username_look'];

export interface UserRow {
  readonly user_id: string;
  readonly app_id: string;
  readonly username: string;
  readonly username_key: string;
  /** The visual form of the name if it differs from its key; null also for users that are older than the rule. */
  readonly username_look: string | null;
  readonly email: string | null;
  readonly role: string;
  /** Null for a user who logs in only with a license key. */
  readonly password_hash: string | null;
  /** The license whose first login created the user. */
  readonly license_id: string | null;
  readonly hwid_digest: Buffer | null;
  readonly created_at: Date;
  /** When the user last reset the machine. */
  readonly hwid_reset_at: Date | null;
  /** Increases with each new password. */
  readonly password_version: number;
}

/** The given columns of a new user; the others have defaults. */
export type NewUserRow = Omit<UserRow, 'role' | 'license_id' | 'hwid_reset_at' | 'password_version'> & {
  readonly role?: string;
};

export async function findUser(db: Knex, appId: string, usernameKey: string): Promise<UserRow | undefined> {
  return db<UserRow>('users').where({ app_id: appId, username_key: usernameKey }).first();
}

/**
 * Whether the application has a user whose name is the same or looks the same. The unique indexes decide in the end;
 * this check avoids hashing for a taken name.
 */
export async function isNameTaken(
  db: Knex,
  appId: string,
  { username_key, username_look }: Pick<UserRow, 'username_key' | 'username_look'>,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { taken: boolean }[] }>(
    `select exists (select from users where app_id = ? and username_key = ?)
       or exists (select from users where app_id = ? and coalesce(username_look, username_key) = ?) as taken`,
    [appId, username_key, appId, username_look ?? username_key],
  );
  return rows[0]!.taken;
}

export async function findUserById(db: Knex, userId: string): Promise<UserRow | undefined> {
  return db<UserRow>('users').where({ user_id: userId }).first();
}

/** Reads a user and locks the row until the transaction ends: one user's logins and redemptions run one by one. */
export async function lockUserForUpdate(trx: Knex.Transaction, userId: string): Promise<UserRow | undefined> {
  return trx<UserRow>('users').where({ user_id: userId }).forNoKeyUpdate().first();
}

/**
 * Locks the rows of users until the transaction ends, in the order of their ids, so that two transactions that lock
 * several never wait for each other.
 * @param nowait fails at once if another transaction has locked one
 */
export async function lockUsersForUpdate(
  trx: Knex.Transaction,
  userIds: readonly string[],
  { nowait = false } = {},
): Promise<void> {
  await trx.raw(
    `select 1 from users where user_id = any(?::text[]) order by user_id for no key update${nowait ? ' nowait' : ''}`,
    [userIds] as Knex.RawBinding[],
  );
}

/**
 * Locks the users of an application among some ids until the transaction ends.
 * @returns them, in the order of their ids
 */
export async function lockUsersOfApplicationForUpdate(
  trx: Knex.Transaction,
  appId: string,
  userIds: readonly string[],
): Promise<Pick<UserRow, 'user_id' | 'username'>[]> {
  return trx<UserRow>('users')
    .where({ app_id: appId })
    .whereRaw('user_id = any (?::text[])', [[...userIds]])
    .orderBy('user_id')
    .forNoKeyUpdate()
    .select('user_id', 'username');
}

/** Users of any application, in any order. */
export async function findUsersById(
  db: Knex,
  userIds: readonly string[],
): Promise<Pick<UserRow, 'user_id' | 'app_id' | 'username'>[]> {
  return db<UserRow>('users')
    .whereRaw('user_id = any(?::text[])', [[...userIds]])
    .select('user_id', 'app_id', 'username');
}

/** @returns false if the application already has a user whose name is the same or looks the same */
export async function insertUser(trx: Knex.Transaction, row: NewUserRow): Promise<boolean> {
  try {
    await trx('users').insert(row);
    return true;
  } catch (error) {
    if (NAME_INDEXES.some((name) => isUniqueViolation(error, name))) return false;
    throw error;
  }
}

/** Records the license whose first login created a user. */
export async function setLicense(trx: Knex.Transaction, userId: string, licenseId: string): Promise<void> {
  await trx('users').where({ user_id: userId }).update({ license_id: licenseId });
}

/** Removes the license whose first login created a user, if it is this one. */
export async function forgetLicense(trx: Knex.Transaction, userId: string, licenseId: string): Promise<void> {
  await trx('users').where({ user_id: userId, license_id: licenseId }).update({ license_id: null });
}

export async function bindHwid(trx: Knex.Transaction, userId: string, hwidDigest: Buffer): Promise<void> {
  await trx('users').where({ user_id: userId }).update({ hwid_digest: hwidDigest });
}

/** Unbinds a user; a given time records a reset by the user. */
export async function unbindHwid(trx: Knex.Transaction, userId: string, resetAt?: Date): Promise<void> {
  await trx('users')
    .where({ user_id: userId })
    .update({ hwid_digest: null, ...(resetAt && { hwid_reset_at: resetAt }) });
}

/** Sets another password: logins that have verified the old one fail. */
export async function setPasswordHash(
  trx: Knex.Transaction,
  userId: string,
  passwordHash: string,
): Promise<void> {
  await trx('users')
    .where({ user_id: userId })
    .update({ password_hash: passwordHash, password_version: trx.raw('password_version + 1') });
}

export async function updateUser(
  trx: Knex.Transaction,
  userId: string,
  changes: Partial<Pick<UserRow, 'email' | 'role'>>,
): Promise<void> {
  await trx('users').where({ user_id: userId }).update(changes);
}

/** Deletes users with their sessions, subscriptions and bans. */
export async function deleteUsers(trx: Knex.Transaction, userIds: readonly string[]): Promise<void> {
  await trx('users')
    .whereRaw('user_id = any (?::text[])', [[...userIds]])
    .delete();
}

/** Replaces a hash by one with newer parameters, unless the password was changed in the meantime. */
export async function replacePasswordHash(db: Knex, user: UserRow, passwordHash: string): Promise<void> {
  await db('users')
    .where({ user_id: user.user_id, password_hash: user.password_hash })
    .update({ password_hash: passwordHash });
}

/** Deletes a batch of users of an application with their sessions and subscriptions. @returns how many */
export async function deleteUsersOfApplication(db: Knex, appId: string, limit: number): Promise<number> {
  const some = db('users').where({ app_id: appId }).limit(limit).select('user_id');
  return db('users').whereIn('user_id', some).delete();
}
