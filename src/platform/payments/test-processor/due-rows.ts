import type { Knex } from 'knex';
import { isRowFault, reasonOf } from '../../row-fault.ts';
import type { Context } from './context.ts';
import { lockDueForUpdate, setAside, type DueTable } from './due-store.ts';

/**
 * Processes the row of a table that came due first. A row that cannot be processed is set aside, so that the rows after
 * it are processed.
 * @param settle does what is due, in the transaction that locks the row
 * @returns whether there was one
 */
export async function doFirstDue<Row>(
  { change, clock, knex, logger }: Pick<Context, 'change' | 'clock' | 'knex' | 'logger'>,
  table: DueTable,
  settle: (trx: Knex.Transaction, row: Row) => Promise<unknown>,
): Promise<boolean> {
  let ref: string | undefined;
  try {
    await change(async (trx) => {
      const due = await lockDueForUpdate<Row>(trx, table, clock.now());
      ref = due?.ref;
      if (due) await settle(trx, due.row);
    });
  } catch (error) {
    if (ref === undefined || !isRowFault(error)) throw error;
    const fault = reasonOf(error);
    logger.error({ table, ref, fault, err: error }, 'a row of the test processor is set aside');
    await setAside(knex, table, ref, fault);
  }
  return ref !== undefined;
}
