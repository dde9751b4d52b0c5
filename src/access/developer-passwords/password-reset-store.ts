import type { Knex } from 'knex';

export interface PasswordResetRow {
  readonly token_digest: Buffer;
  /** Null if no account has the address. */
  readonly developer_id: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export async function insertPasswordReset(trx: Knex.Transaction, row: PasswordResetRow): Promise<void> {
  await trx('password_resets').insert(row);
}

/** @returns undefined for an expired link */
export async function findPasswordReset(
  db: Knex,
  tokenDigest: Buffer,
  now: Date,
): Promise<PasswordResetRow | undefined> {
  return db<PasswordResetRow>('password_resets')
    .where({ token_digest: tokenDigest })
    .where('expires_at', '>', now)
    .first();
}

/** Uses up a link. @returns whether it was unused */
export async function takePasswordReset(trx: Knex.Transaction, tokenDigest: Buffer): Promise<boolean> {
  return (await trx('password_resets').where({ token_digest: tokenDigest }).delete()) === 1;
}

export async function deletePasswordResetsOf(trx: Knex.Transaction, developerId: string): Promise<void> {
  await trx('password_resets').where({ developer_id: developerId }).delete();
}

/** @returns how many */
export async function clearExpiredPasswordResets(
  db: Knex,
  expiredBefore: Date,
  limit: number,
): Promise<number> {
  const some = db('password_resets')
    .where('expires_at', '<', expiredBefore)
    .limit(limit)
    .select('token_digest');
  return db('password_resets').whereIn('token_digest', some).delete();
}
