import type { Knex } from 'knex';

/**
 * Records a nonce.
 * @returns false when it was already used; of several concurrent calls exactly one returns true
 */
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

/** Deletes nonces that have expired. @returns how many */
export async function clearExpiredNonces(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('nonces').where('expires_at', '<=', expiredBefore).limit(limit).select('nonce_digest');
  // Checked twice, because a nonce may be used again while the delete waits for its row.
  return db('nonces').whereIn('nonce_digest', some).where('expires_at', '<=', expiredBefore).delete();
}
