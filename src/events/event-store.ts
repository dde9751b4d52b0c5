import type { Knex } from 'knex';

export interface EventRow {
  readonly event_id: string;
  readonly app_id: string;
  readonly type: string;
  readonly user_id: string | null;
  readonly session_digest: Buffer | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
}

/** An event with its place in the order of publication. */
export interface NumberedRow extends EventRow {
  readonly position: number;
}

const COLUMNS = 'event_id, app_id, type, user_id, session_digest, data, created_at, position';

export async function insertEvents(trx: Knex.Transaction, rows: readonly EventRow[]): Promise<void> {
  if (rows.length === 0) return;
  await trx('events').insert(rows.map((row) => ({ ...row, data: JSON.stringify(row.data) })));
}

/** Holds a position until the transaction ends. @returns undefined at once when somebody else holds it */
export async function tryHoldPosition(trx: Knex.Transaction, name: string): Promise<number | undefined> {
  const row = await trx<{ name: string; position: number }>('relay_positions')
    .where({ name })
    .forUpdate()
    .skipLocked()
    .first('position');
  return row?.position;
}

export async function setPosition(trx: Knex.Transaction, name: string, position: number): Promise<void> {
  await trx('relay_positions').where({ name }).update({ position });
}

/** Numbers the events that were written first, of those without a number. @returns them in their order */
export async function numberEvents(
  trx: Knex.Transaction,
  last: number,
  limit: number,
): Promise<NumberedRow[]> {
  const { rows } = await trx.raw<{ rows: NumberedRow[] }>(
    `with batch as (
       select event_id, row_number() over (order by sequence) as place
       from (select event_id, sequence from events where position is null order by sequence limit ?) oldest
     )
     update events set position = ?::bigint + batch.place from batch where events.event_id = batch.event_id
     returning ${COLUMNS.replaceAll('event_id', 'events.event_id')}`,
    [limit, last],
  );
  return rows.sort((a, b) => a.position - b.position);
}

/** Tells every node that there are new numbers, once the transaction has ended. */
export async function announceNumbers(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`select pg_notify('latchkey_log', '')`);
}

export async function findLastPosition(db: Knex): Promise<number> {
  const row = await db<{ name: string; position: number }>('relay_positions')
    .where({ name: 'log' })
    .first('position');
  return row?.position ?? 0;
}

/** Numbered events behind a position, in their order. */
export async function readEventsAfter(db: Knex, position: number, limit: number): Promise<NumberedRow[]> {
  return db<NumberedRow>('events')
    .where('position', '>', position)
    .orderBy('position')
    .limit(limit)
    .select(db.raw(COLUMNS));
}
