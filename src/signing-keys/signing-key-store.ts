import type { Knex } from 'knex';
import type { JWK } from 'jose';
import type { SigningAlg } from './signing-key-state.ts';

export interface SigningKeyRow {
  readonly key_id: string;
  readonly alg: SigningAlg;
  readonly public_jwk: JWK;
  /** Null of one that was removed. */
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

/** Its private part is forgotten. @returns its algorithm; undefined when there is no such key */
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

/** @returns how many there were */
export async function deleteSigningKeys(db: Knex, keyIds: readonly string[]): Promise<number> {
  return db('signing_keys').whereIn('key_id', keyIds).delete();
}
