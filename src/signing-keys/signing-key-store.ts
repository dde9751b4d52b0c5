import type { Knex } from 'knex';
import type { JWK } from 'jose';
import type { SigningAlg } from './signing-key-state.ts';

/** Where nodes hear that keys were changed. */
export const CHANNEL = 'latchkey_signing_keys';

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

/** Has every node that listens look for the changes of the caller's transaction, once it is committed. */
export async function notifyNodes(trx: Knex.Transaction): Promise<void> {
  await trx.raw('select pg_notify(?, ?)', [CHANNEL, '']);
}

/** @returns how many there were */
export async function deleteSigningKeys(db: Knex, keyIds: readonly string[]): Promise<number> {
  return db('signing_keys').whereIn('key_id', keyIds).delete();
}
