import type { Knex } from 'knex';
import type pg from 'pg';
import type { NumberedRow } from './event-row.ts';

/** The largest `data` that is published, in bytes of JSON. */
export const LONGEST_DATA_BYTES = 256 * 1024;

/**
 * The columns that are read to publish an event. `data` is unchecked, and null when it is too long to be
 * read.
 */
export interface OutboxRow extends Omit<NumberedRow, 'data'> {
  readonly data: unknown;
  readonly data_bytes: number;
}

/** `data` that is too long is not read. */
const COLUMNS = `events.event_id, app_id, type, audience, user_id, session_digest, created_at, position,
  octet_length(data::text) as data_bytes,
  case when octet_length(data::text) <= ${LONGEST_DATA_BYTES} then data end as data`;

/** Events without a position, except some ids, in the order in which they were written. */
const WAITING = `from events where position is null and fault is null and event_id <> all (?::text[])
  order by sequence limit ?`;

/**
 * Assigns positions to the oldest events that have none.
 * @param except ids of events to skip
 * @returns the events in order
 */
export async function numberEvents(
  trx: Knex.Transaction,
  last: number,
  except: readonly string[],
  limit: number,
): Promise<OutboxRow[]> {
  const { rows } = await trx.raw<{ rows: OutboxRow[] }>(
    `with batch as (
       select event_id, row_number() over (order by sequence) as place
       from (select event_id, sequence ${WAITING}) oldest
     )
     update events set position = ?::bigint + batch.place from batch where events.event_id = batch.event_id
     returning ${COLUMNS}`,
    [except as string[], limit, last],
  );
  return rows.sort((a, b) => a.position - b.position);
}

/** Assigns a position to one event. @returns the event */
export async function numberEvent(
  trx: Knex.Transaction,
  eventId: string,
  position: number,
): Promise<OutboxRow[]> {
  const { rows } = await trx.raw<{ rows: OutboxRow[] }>(
    `update events set position = ? where event_id = ? returning ${COLUMNS}`,
    [position, eventId],
  );
  return rows;
}

/** The id of the event that `numberEvents` would process first. Nothing else of the row is read. */
export async function findFirstWaiting(
  trx: Knex.Transaction,
  except: readonly string[],
): Promise<string | undefined> {
  const { rows } = await trx.raw<{ rows: { event_id: string }[] }>(`select event_id ${WAITING}`, [
    except as string[],
    1,
  ]);
  return rows[0]?.event_id;
}

/** Sets an event aside: it is skipped until its fault is null again. @returns its application and type */
export async function setAside(
  trx: Knex.Transaction,
  eventId: string,
  fault: string,
): Promise<Pick<OutboxRow, 'app_id' | 'type'> | undefined> {
  const [row] = await trx('events')
    .where({ event_id: eventId })
    .update({ fault })
    .returning<Pick<OutboxRow, 'app_id' | 'type'>[]>(['app_id', 'type']);
  return row;
}

/** Records that the external broker refused some events. */
export async function setAsideOfBroker(
  trx: Knex.Transaction,
  refused: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [event_id, broker_fault] of refused) {
    await trx('events').where({ event_id }).update({ broker_fault });
  }
}

/** Counts the events that are not published yet, up to a limit. */
export async function countWaiting(pool: pg.Pool, limit: number): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    name: 'count-waiting',
    text: `select count(*)::int as count
           from (select from events where position is null and fault is null limit $1) as waiting`,
    values: [limit],
  });
  return rows[0]!.count;
}

/**
 * Counts the events that are set aside entirely, and those that only the external broker does not get. Events
 * that an older version published anyway do not count.
 */
export async function countSetAside(pool: pg.Pool): Promise<{ events: number; broker: number }> {
  const { rows } = await pool.query<{ events: number; broker: number }>({
    name: 'count-set-aside',
    text: `select count(fault) filter (where position is null)::int as events, count(broker_fault)::int as broker
           from events where fault is not null or broker_fault is not null`,
  });
  return rows[0]!;
}
