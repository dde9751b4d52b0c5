import type { Knex } from 'knex';
import type { JWK } from 'jose';
import type { SigningAlg } from './signing-key-state.ts';

/** The channel on which nodes are notified of changed keys. */
export const CHANNEL = 'latchkey_signing_keys';

export interface SigningKeyRow {
  readonly key_id: string;
  readonly alg: SigningAlg;
  readonly public_jwk: JWK;
  /** Null after removal. */
  readonly sealed: Buffer | null;
  readonly created_at: Date;
  readonly active_from: Date;
  readonly removed_at: Date | null;
}

export async function insertSigningKey(trx: Knex.Transaction, row: SigningKeyRow): Promise<void> {
  await trx('signing_keys').insert({ ...row, public_jwk: JSON.stringify(row.public_jwk) });
}

export async function listSigningKeys(db: Knex): Promise<SigningKeyRow[]> {
  return db<SigningKeyRow>('signing_keys');
}

/** Removes a key and deletes its private part. @returns its algorithm; undefined when there is no such key */
export async function removeSigningKey(
  trx: Knex.Transaction,
  keyId: string,
  now: Date,
): Promise<SigningAlg | undefined> {
  const [row] = await trx<SigningKeyRow>('signing_keys')
    .where({ key_id: keyId })
    .whereNull('removed_at')
    .update({ removed_at: now, sealed: null })
    .returning('alg');
  return row?.alg;
}

/** Notifies every node to reload the keys when the caller's transaction commits. */
export async function notifyNodes(trx: Knex.Transaction): Promise<void> {
  await trx.raw('select pg_notify(?, ?)', [CHANNEL, '']);
}

/** @returns how many keys were deleted */
export async function deleteSigningKeys(db: Knex, keyIds: readonly string[]): Promise<number> {
  return db('signing_keys').whereIn('key_id', keyIds).delete();
}
