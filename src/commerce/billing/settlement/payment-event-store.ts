import type { Knex } from 'knex';

export interface EventRow {
  readonly processor: string;
  readonly notice_id: string;
  readonly type: string;
  readonly outcome: 'applied' | 'refused';
  readonly detail: string | null;
  readonly received_at: Date;
}

/** Whether an event was already processed. */
export async function isKnown(db: Knex, processor: string, eventId: string): Promise<boolean> {
  return (
    (await db('payment_notices').where({ processor, notice_id: eventId }).first('notice_id')) !== undefined
  );
}

export async function insertEvent(trx: Knex.Transaction, row: EventRow): Promise<void> {
  await trx('payment_notices').insert(row);
}

/** Deletes events that are too old to be repeated. @returns how many */
export async function deleteOldEvents(db: Knex, receivedBefore: Date, limit: number): Promise<number> {
  const some = db('payment_notices')
    .where('received_at', '<', receivedBefore)
    .limit(limit)
    .select('processor', 'notice_id');
  return db('payment_notices').whereIn(['processor', 'notice_id'], some).delete();
}
