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

/**
 * The newest key of each purpose, after those of missing purposes are inserted. When several nodes start at once, one
 * inserts the rows and all get the same ones.
 * @param purposes each with a function that makes its row
 * @param assertReadable throws if a row is encrypted under another master key; then nothing is inserted
 * @returns the rows by purpose
 */
export async function findOrInsertKeys(
  knex: Knex,
  purposes: ReadonlyMap<string, () => KeyRow>,
  assertReadable: (row: KeyRow) => void,
): Promise<ReadonlyMap<string, KeyRow>> {
  const found = await newestKeys(knex);
  if ([...purposes.keys()].every((purpose) => found.has(purpose))) return found;
  return withAdvisoryLock(knex, 'data-keys', async (trx) => {
    const existing = await newestKeys(trx);
    for (const row of existing.values()) assertReadable(row);
    const missing = [...purposes].filter(([purpose]) => !existing.has(purpose)).map(([, make]) => make());
    if (missing.length > 0) await trx<KeyRow>('data_keys').insert(missing);
    return new Map([...existing, ...missing.map((row) => [row.purpose, row] as const)]);
  });
}

async function newestKeys(knex: Knex): Promise<ReadonlyMap<string, KeyRow>> {
  const rows = await knex<KeyRow>('data_keys').orderBy('created_at');
  return new Map(rows.map((row) => [row.purpose, row]));
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
