import type { Knex } from 'knex';

export interface NoticeRow {
  readonly processor: string;
  readonly notice_id: string;
  readonly type: string;
  readonly outcome: 'applied' | 'refused';
  readonly detail: string | null;
  readonly received_at: Date;
}

/** Whether a notice has been dealt with. */
export async function isKnown(db: Knex, processor: string, noticeId: string): Promise<boolean> {
  return (
    (await db('payment_notices').where({ processor, notice_id: noticeId }).first('notice_id')) !== undefined
  );
}

export async function insertNotice(trx: Knex.Transaction, row: NoticeRow): Promise<void> {
  await trx('payment_notices').insert(row);
}

/** Deletes notices that are too old to come again. @returns how many */
export async function clearNotices(db: Knex, receivedBefore: Date, limit: number): Promise<number> {
  const some = db('payment_notices')
    .where('received_at', '<', receivedBefore)
    .limit(limit)
    .select('processor', 'notice_id');
  return db('payment_notices').whereIn(['processor', 'notice_id'], some).delete();
}
