import type { Knex } from 'knex';
import { withAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';

export interface KeyRow {
  readonly purpose: string;
  readonly key_id: string;
  readonly sealed: Buffer;
  readonly created_at: Date;
}

/** Whether this installation already has keys. */
export async function hasKeys(knex: Knex): Promise<boolean> {
  return (await knex<KeyRow>('data_keys').first('purpose')) !== undefined;
}

/** The key for a purpose. When several nodes start at once, one inserts the row and all get the same one. */
export async function findOrInsertKey(knex: Knex, row: KeyRow): Promise<KeyRow> {
  return withAdvisoryLock(knex, `data-key:${row.purpose}`, async (trx) => {
    const existing = await trx<KeyRow>('data_keys')
      .where({ purpose: row.purpose })
      .orderBy('created_at', 'desc')
      .first();
    if (existing) return existing;
    await trx<KeyRow>('data_keys').insert(row);
    return row;
  });
}

/**
 * @returns a function that encrypts the next batch of keys under the current master key, and returns its size
 */
export function createKeyResealer(
  db: Knex,
  keyring: Keyring,
  context: (id: string) => string,
): () => Promise<number> {
  return createResealer(db, keyring, { table: 'data_keys', id: 'purpose', column: 'sealed', context });
}
