import type { Knex } from 'knex';

export interface ResponseRow {
  readonly key_digest: Buffer;
  readonly fingerprint: Buffer;
  readonly answer_sealed: Buffer;
  readonly expires_at: Date;
}

/** Locks a key until the transaction ends. @returns false at once when another transaction has locked it */
export async function tryLockKey(trx: Knex.Transaction, keyDigest: Buffer): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { held: boolean }[] }>(
    'select pg_try_advisory_xact_lock(?) as held',
    [keyDigest.readBigInt64BE().toString()],
  );
  return rows[0]!.held;
}

export async function findResponse(
  trx: Knex.Transaction,
  keyDigest: Buffer,
  now: Date,
): Promise<ResponseRow | undefined> {
  return trx<ResponseRow>('idempotency_keys')
    .where({ key_digest: keyDigest })
    .where('expires_at', '>', now)
    .first();
}

/** Replaces an expired response of the same key. */
export async function insertResponse(trx: Knex.Transaction, row: ResponseRow): Promise<void> {
  await trx<ResponseRow>('idempotency_keys').insert(row).onConflict('key_digest').merge();
}

/** Deletes expired responses. @returns how many */
export async function clearExpiredResponses(db: Knex, now: Date, limit: number): Promise<number> {
  const some = db('idempotency_keys').where('expires_at', '<', now).limit(limit).select('key_digest');
  return db('idempotency_keys').whereIn('key_digest', some).delete();
}
