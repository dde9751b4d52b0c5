import type { Knex } from 'knex';
import { UnknownMasterKeyError, type Keyring } from '../keyring.ts';

const AT_ONCE = 200;

/** A column of sealed values. */
export interface SealedColumn<Id extends string | Buffer = string> {
  readonly table: string;
  /** The primary key. */
  readonly id: string;
  readonly column: string;
  /** The context under which the value of a row is sealed. */
  readonly context: (id: Id) => string;
}

/**
 * Seals values anew that are not under the current master key, so that an old one can be removed. Each call does the next
 * part of the table.
 * @returns how many it found; 0 at the end of the table, after which it begins again
 * @throws Error that names rows which cannot be opened; the next call goes on behind them
 */
export function createResealer<Id extends string | Buffer = string>(
  knex: Knex,
  keyring: Keyring,
  { table, id, column, context }: SealedColumn<Id>,
): () => Promise<number> {
  // Of bytes too this is the lowest value.
  let last: string | Buffer = '';
  return async () => {
    if (!keyring.rotating) return 0;
    const rows = await knex(table)
      .whereRaw('substring(?? from 1 for ?) <> ?', [column, keyring.keyId.length, keyring.keyId])
      .where(id, '>', last)
      .orderBy(id)
      .limit(AT_ONCE)
      .select<{ id: Id; sealed: Buffer }[]>({ id, sealed: column });
    last = rows.at(-1)?.id ?? '';

    const unopened: string[] = [];
    for (const row of rows) {
      try {
        const sealed = keyring.seal(keyring.open(row.sealed, context(row.id)), context(row.id));
        await knex(table)
          .where({ [id]: row.id, [column]: row.sealed })
          .update({ [column]: sealed });
      } catch (error) {
        if (isOpeningFault(error))
          unopened.push(typeof row.id === 'string' ? row.id : row.id.toString('hex'));
        else throw error;
      }
    }
    if (unopened.length > 0) throw new Error(`no master key opens ${table} ${unopened.join(', ')}`);
    return rows.length;
  };
}

/** Of the keyring rather than of the database, whose errors have a code of their own. */
function isOpeningFault(error: unknown): boolean {
  return error instanceof UnknownMasterKeyError || (error as Error).message.includes('authenticate data');
}
