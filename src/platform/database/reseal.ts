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

/** Sealed values in any storage. */
export interface SealedRows<Id extends string | Buffer = string> {
  /** Their name in errors. */
  readonly name: string;
  /** The context under which the value of a row is sealed. */
  readonly context: (id: Id) => string;
  /** Rows after an id whose value does not begin with the id of a key, ordered by id. */
  list(
    after: string | Buffer,
    keyId: Buffer,
    limit: number,
  ): Promise<{ readonly id: Id; readonly sealed: Buffer }[]>;
  /** Replaces the value of a row unless it has changed meanwhile. */
  replace(id: Id, from: Buffer, to: Buffer): Promise<unknown>;
}

/** @returns a function that reseals the values of a column, like that of `createRowResealer` */
export function createResealer<Id extends string | Buffer = string>(
  knex: Knex,
  keyring: Keyring,
  { table, id, column, context }: SealedColumn<Id>,
): () => Promise<number> {
  return createRowResealer<Id>(keyring, {
    name: table,
    context,
    list: (after, keyId, limit) =>
      knex(table)
        .whereRaw('substring(?? from 1 for ?) <> ?', [column, keyId.length, keyId])
        .where(id, '>', after)
        .orderBy(id)
        .limit(limit)
        .select<{ id: Id; sealed: Buffer }[]>({ id, sealed: column }),
    replace: (rowId, from, to) =>
      knex(table)
        .where({ [id]: rowId, [column]: from })
        .update({ [column]: to }),
  });
}

/**
 * Reseals values that are not under the current master key, so that an old key can be removed. Each call processes the
 * next batch of rows.
 * @returns the number of rows found; 0 at the end of the rows, after which it starts over
 * @throws Error that names the rows that cannot be opened; the next call continues after them
 */
export function createRowResealer<Id extends string | Buffer = string>(
  keyring: Keyring,
  { name, context, list, replace }: SealedRows<Id>,
): () => Promise<number> {
  // The lowest value for bytes as well.
  let last: string | Buffer = '';
  return async () => {
    if (!keyring.rotating) return 0;
    const rows = await list(last, keyring.keyId, AT_ONCE);
    last = rows.at(-1)?.id ?? '';

    const unopened: string[] = [];
    for (const row of rows) {
      try {
        const sealed = keyring.seal(keyring.open(row.sealed, context(row.id)), context(row.id));
        await replace(row.id, row.sealed, sealed);
      } catch (error) {
        if (isOpeningFault(error))
          unopened.push(typeof row.id === 'string' ? row.id : row.id.toString('hex'));
        else throw error;
      }
    }
    if (unopened.length > 0) throw new Error(`no master key opens ${name} ${unopened.join(', ')}`);
    return rows.length;
  };
}

/** An error of the keyring, not of the database, whose errors have a code. */
function isOpeningFault(error: unknown): boolean {
  return error instanceof UnknownMasterKeyError || (error as Error).message.includes('authenticate data');
}
