import type { Knex } from 'knex';

export interface EventRow {
  readonly notice_id: string;
  readonly sequence: number;
  readonly body: string;
  readonly attempts: number;
  readonly next_attempt_at: Date;
  readonly created_at: Date;
}

export async function insertEvent(
  trx: Knex.Transaction,
  row: Pick<EventRow, 'notice_id' | 'body' | 'next_attempt_at' | 'created_at'>,
): Promise<void> {
  await trx<EventRow>('test_notices').insert(row);
}

/** Takes events that are due and that no other process has taken. @param until when another process may take them */
export async function takeDueEvents(db: Knex, now: Date, until: Date, limit: number): Promise<EventRow[]> {
  const { rows } = await db.raw<{ rows: EventRow[] }>(
    `with due as materialized (
       select notice_id from test_notices where next_attempt_at <= ?
       order by next_attempt_at, sequence limit ? for update skip locked)
     update test_notices n set attempts = n.attempts + 1, next_attempt_at = ?
     from due where n.notice_id = due.notice_id returning n.*`,
    [now, limit, until],
  );
  return rows;
}

export async function deleteEvent(db: Knex, eventId: string): Promise<void> {
  await db<EventRow>('test_notices').where({ notice_id: eventId }).delete();
}

/** If two processes have tried to send the event, only the one that took it last postpones it. */
export async function postponeEvent(db: Knex, { notice_id, attempts }: EventRow, until: Date): Promise<void> {
  await db<EventRow>('test_notices').where({ notice_id, attempts }).update({ next_attempt_at: until });
}
