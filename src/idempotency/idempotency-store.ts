import type { Knex } from 'knex';

export interface AnswerRow {
  readonly key_digest: Buffer;
  readonly fingerprint: Buffer;
  readonly answer_sealed: Buffer;
  readonly expires_at: Date;
}

/** Holds a key alone until the transaction ends. @returns false at once when somebody else holds it */
export async function tryHoldKey(trx: Knex.Transaction, keyDigest: Buffer): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { held: boolean }[] }>(
    'select pg_try_advisory_xact_lock(?) as held',
    [keyDigest.readBigInt64BE().toString()],
  );
  return rows[0]!.held;
}

export async function findAnswer(
  trx: Knex.Transaction,
  keyDigest: Buffer,
  now: Date,
): Promise<AnswerRow | undefined> {
  return trx<AnswerRow>('idempotency_keys')
    .where({ key_digest: keyDigest })
    .where('expires_at', '>', now)
    .first();
}

/** An expired answer of the same key gives way. */
export async function insertAnswer(trx: Knex.Transaction, row: AnswerRow): Promise<void> {
  await trx<AnswerRow>('idempotency_keys').insert(row).onConflict('key_digest').merge();
}

/** Deletes answers whose day is over. @returns how many */
export async function clearExpiredAnswers(db: Knex, now: Date, limit: number): Promise<number> {
  const some = db('idempotency_keys').where('expires_at', '<', now).limit(limit).select('key_digest');
  return db('idempotency_keys').whereIn('key_digest', some).delete();
}
