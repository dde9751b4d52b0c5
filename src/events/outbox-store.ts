import type { Knex } from 'knex';
import type pg from 'pg';

/** The largest `data` that is published, in bytes of JSON. */
export const LONGEST_DATA_BYTES = 256 * 1024;

/** What the numbering reads of an event: without its data when they are too long. */
export interface OutboxRow {
  readonly event_id: string;
  readonly app_id: string;
  readonly type: string;
  readonly audience: string | null;
  readonly user_id: string | null;
  readonly session_digest: Buffer | null;
  readonly data: unknown;
  readonly data_bytes: number;
  readonly created_at: Date;
  readonly position: number;
}

/** An event whose data are too long is read without them. */
const COLUMNS = `events.event_id, app_id, type, audience, user_id, session_digest, created_at, position,
  octet_length(data::text) as data_bytes,
  case when octet_length(data::text) <= ${LONGEST_DATA_BYTES} then data end as data`;

/** Numbers the events that were written first, of those without a number. @returns them in their order */
export async function numberEvents(trx: Knex.Transaction, last: number, limit: number): Promise<OutboxRow[]> {
  const { rows } = await trx.raw<{ rows: OutboxRow[] }>(
    `with batch as (
       select event_id, row_number() over (order by sequence) as place
       from (select event_id, sequence from events where position is null and fault is null
             order by sequence limit ?) oldest
     )
     update events set position = ?::bigint + batch.place from batch where events.event_id = batch.event_id
     returning ${COLUMNS}`,
    [limit, last],
  );
  return rows.sort((a, b) => a.position - b.position);
}

/** The events that were written first, of those without a number. */
export async function firstUnnumbered(trx: Knex.Transaction, limit: number): Promise<OutboxRow[]> {
  const { rows } = await trx.raw<{ rows: OutboxRow[] }>(
    `select ${COLUMNS} from events where position is null and fault is null order by sequence limit ?`,
    [limit],
  );
  return rows;
}

export async function numberEvent(trx: Knex.Transaction, eventId: string, position: number): Promise<void> {
  await trx('events').where({ event_id: eventId }).update({ position });
}

/** Sets an event aside: it is numbered no more until its fault is null again. */
export async function setAside(trx: Knex.Transaction, eventId: string, fault: string): Promise<void> {
  await trx('events').where({ event_id: eventId }).update({ fault });
}

/** Notes that the broker outside cannot take some events. */
export async function setAsideOfBroker(
  trx: Knex.Transaction,
  refused: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [event_id, broker_fault] of refused) {
    await trx('events').where({ event_id }).update({ broker_fault });
  }
}

/** How many events are set aside: for everybody, and for the broker outside alone. */
export async function countSetAside(pool: pg.Pool): Promise<{ events: number; broker: number }> {
  const { rows } = await pool.query<{ events: number; broker: number }>({
    name: 'count-set-aside',
    text: `select count(fault)::int as events, count(broker_fault)::int as broker
           from events where fault is not null or broker_fault is not null`,
  });
  return rows[0]!;
}
