import type { Knex } from 'knex';

export interface FailedMailRow {
  readonly mail_id: string;
  readonly kind: string;
  readonly recipient_digest: Buffer | null;
  readonly message_sealed: Buffer | null;
  readonly link_ends_at: Date | null;
  readonly error: string;
  readonly failed_at: Date;
}

/** If a mail fails again after it was sent again, the last failure is kept. */
export async function insertFailedMail(db: Knex, row: FailedMailRow): Promise<void> {
  await db('failed_mails').insert(row).onConflict('mail_id').merge();
}

export async function countFailedMails(db: Knex): Promise<number> {
  const row = await db('failed_mails').count<{ count: number }>({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

/** Takes out mails that an operator wants to send again and whose links still work. */
export async function takeRetried(
  trx: Knex.Transaction,
  now: Date,
  limit: number,
): Promise<{ readonly mail_id: string; readonly message_sealed: Buffer }[]> {
  const some = trx('failed_mails')
    .where({ retry: true })
    .whereNotNull('message_sealed')
    .where((works) => works.whereNull('link_ends_at').orWhere('link_ends_at', '>', now))
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .select('mail_id');
  return trx('failed_mails').whereIn('mail_id', some).delete().returning(['mail_id', 'message_sealed']);
}

/** Erases the content of mails whose links have expired. @returns how many */
export async function eraseExpired(db: Knex, now: Date): Promise<number> {
  return db('failed_mails')
    .where('link_ends_at', '<=', now)
    .whereNotNull('message_sealed')
    .update({ message_sealed: null });
}

/** @returns how many */
export async function deleteFailedBefore(db: Knex, before: Date, limit: number): Promise<number> {
  const some = db('failed_mails').where('failed_at', '<', before).limit(limit).select('mail_id');
  return db('failed_mails').whereIn('mail_id', some).delete();
}
