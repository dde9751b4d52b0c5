import type { Knex } from 'knex';

/** Tables whose rows come due, with their keys. */
const KEYS = {
  test_checkouts: 'session_ref',
  test_subscriptions: 'subscription_ref',
  test_payments: 'payment_ref',
} as const;

export type DueTable = keyof typeof KEYS;

/** The row that came due first, of those that are not set aside and that no other process has locked. */
export async function lockDueForUpdate<Row>(
  trx: Knex.Transaction,
  table: DueTable,
  now: Date,
): Promise<{ readonly ref: string; readonly row: Row } | undefined> {
  const row = (await trx(table)
    .where('due_at', '<=', now)
    .where({ fault: null })
    .orderBy('due_at')
    .forUpdate()
    .skipLocked()
    .first()) as Record<string, string> | undefined;
  return row && { ref: row[KEYS[table]]!, row: row as Row };
}

/** Keeps a row from coming due until its fault is null again. */
export async function setAside(db: Knex, table: DueTable, ref: string, fault: string): Promise<void> {
  await db(table)
    .where({ [KEYS[table]]: ref })
    .update({ fault });
}

/** How many rows are set aside. */
export async function countSetAside(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `select (select count(*) from test_checkouts where fault is not null)
       + (select count(*) from test_subscriptions where fault is not null)
       + (select count(*) from test_payments where fault is not null) as count`,
  );
  return Number(rows[0].count);
}
