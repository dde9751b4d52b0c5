import type { Knex } from 'knex';

const QUERY_CANCELED = '57014';

/**
 * Reads by bitmaps of indexes only, and gives up after some time: such a read cannot stop early, however few rows are
 * wanted.
 * @returns undefined if the read took too long
 */
export async function readByBitmapWithin<Result>(
  knex: Knex,
  milliseconds: number,
  read: (trx: Knex.Transaction) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await knex.transaction(async (trx) => {
      await trx.raw(
        `select set_config('statement_timeout', ?, true),
           set_config('enable_seqscan', 'off', true),
           set_config('enable_indexscan', 'off', true)`,
        [String(milliseconds)],
      );
      return read(trx);
    });
  } catch (error) {
    if ((error as { code?: string }).code === QUERY_CANCELED) return undefined;
    throw error;
  }
}

/** A pattern of `like` for texts that contain a part. */
export function containing(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}
