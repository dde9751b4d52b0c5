import type { Knex } from 'knex';
import { isUniqueViolation } from '../platform/database/errors.ts';

/** What no two users of an application share. */
const NAME_INDEXES = ['users_username_key', 'users_username_look'];

export interface UserRow {
  readonly user_id: string;
  readonly app_id: string;
  readonly username: string;
  readonly username_key: string;
  /** What the name looks like, where that is not its key; null also for users from before the rule. */
  readonly username_look: string | null;
  readonly email: string | null;
  readonly role: string;
  /** Null for a user who logs in with a licence key alone. */
  readonly password_hash: string | null;
  /** The licence whose first login made the user. */
  readonly license_id: string | null;
  readonly hwid_digest: Buffer | null;
  readonly created_at: Date;
  /** When the user himself last reset his machine. */
  readonly hwid_reset_at: Date | null;
  /** Grows with each new password. */
  readonly password_version: number;
}

/** What a new user has; the rest follows from his being new. */
export type NewUserRow = Omit<UserRow, 'role' | 'license_id' | 'hwid_reset_at' | 'password_version'> & {
  readonly role?: string;
};

export async function findUser(db: Knex, appId: string, usernameKey: string): Promise<UserRow | undefined> {
  return db<UserRow>('users').where({ app_id: appId, username_key: usernameKey }).first();
}

/**
 * Whether the application has a user whose name is the same or looks the same. The unique indexes decide in the end: this
 * spares the work for a name that is taken.
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

/** Reads a user and holds the row until the transaction ends: one user's logins and redemptions run one by one. */
export async function lockUser(trx: Knex.Transaction, userId: string): Promise<UserRow | undefined> {
  return trx<UserRow>('users').where({ user_id: userId }).forNoKeyUpdate().first();
}

/** @returns false when the application has a user already whose name is the same or looks the same */
export async function insertUser(trx: Knex.Transaction, row: NewUserRow): Promise<boolean> {
  try {
    await trx('users').insert(row);
    return true;
  } catch (error) {
    if (NAME_INDEXES.some((name) => isUniqueViolation(error, name))) return false;
    throw error;
  }
}

/** Notes the licence whose first login made a user. */
export async function noteLicense(trx: Knex.Transaction, userId: string, licenseId: string): Promise<void> {
  await trx('users').where({ user_id: userId }).update({ license_id: licenseId });
}

/** Forgets the licence whose first login made a user, if it is this one. */
export async function forgetLicense(trx: Knex.Transaction, userId: string, licenseId: string): Promise<void> {
  await trx('users').where({ user_id: userId, license_id: licenseId }).update({ license_id: null });
}

export async function bindHwid(trx: Knex.Transaction, userId: string, hwidDigest: Buffer): Promise<void> {
  await trx('users').where({ user_id: userId }).update({ hwid_digest: hwidDigest });
}

/** Unbinds a user, at his own wish when a moment is given. */
export async function unbindHwid(trx: Knex.Transaction, userId: string, resetAt?: Date): Promise<void> {
  await trx('users')
    .where({ user_id: userId })
    .update({ hwid_digest: null, ...(resetAt && { hwid_reset_at: resetAt }) });
}

/** Gives a user another password: logins that have checked the old one no longer count. */
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

/** Deletes a user with his sessions, subscription and bans. */
export async function deleteUser(trx: Knex.Transaction, userId: string): Promise<void> {
  await trx('users').where({ user_id: userId }).delete();
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
