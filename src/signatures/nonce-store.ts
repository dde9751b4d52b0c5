import type { Knex } from 'knex';

/** Remembers a nonce. @returns false when it is remembered already; of several at once one gets true */
export async function insertNonce(
  db: Knex,
  nonceDigest: Buffer,
  expiresAt: Date,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into nonces (nonce_digest, expires_at) values (?, ?)
     on conflict (nonce_digest) do update set expires_at = excluded.expires_at where nonces.expires_at <= ?`,
    [nonceDigest, expiresAt, now],
  );
  return rowCount === 1;
}

/** Deletes nonces that need not be remembered any more. @returns how many */
export async function clearExpiredNonces(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('nonces').where('expires_at', '<=', expiredBefore).limit(limit).select('nonce_digest');
  // Asked twice, because a nonce may be spent anew while its row is waited for.
  return db('nonces').whereIn('nonce_digest', some).where('expires_at', '<=', expiredBefore).delete();
}
