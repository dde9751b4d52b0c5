import type { Knex } from 'knex';
import type { EventRow, NumberedRow } from './event-row.ts';

const COLUMNS = 'event_id, app_id, type, audience, user_id, session_digest, data, created_at, position';

/** SQLSTATE of a row with a part that the database has lost. */
const LOST_STATE = 'XX001';

export async function insertEvents(trx: Knex.Transaction, rows: readonly EventRow[]): Promise<void> {
  if (rows.length === 0) return;
  await trx('events').insert(rows.map((row) => ({ ...row, data: JSON.stringify(row.data) })));
}

/**
 * How long a transaction that locks a position may be idle: a node without a connection must not block the
 * others.
 */
const IDLE_MS = { log: 2_000, broker: 6_000 };
const TRANSACTION_MS = 10_000;

/**
 * Locks a position until the transaction ends.
 * @returns undefined at once when another transaction has locked it
 */
export async function tryLockPosition(
  trx: Knex.Transaction,
  name: keyof typeof IDLE_MS,
): Promise<number | undefined> {
  // Set for this transaction only, so that it works behind any pooler.
  const { rows } = await trx.raw<{ rows: { position: number }[] }>(
    `select position, set_config('idle_in_transaction_session_timeout', ?, true),
       case when current_setting('server_version_num')::int >= 170000
         then set_config('transaction_timeout', ?, true) end
     from (select position from relay_positions where name = ? for update skip locked) held`,
    [String(IDLE_MS[name]), String(TRANSACTION_MS), name],
  );
  return rows[0]?.position;
}

export async function setPosition(trx: Knex.Transaction, name: string, position: number): Promise<void> {
  await trx('relay_positions').where({ name }).update({ position });
}

/** Sets the position of the last published event, and notifies every node when the transaction commits. */
export async function advanceLog(trx: Knex.Transaction, position: number): Promise<void> {
  await trx.raw(
    `update relay_positions set position = ? where name = 'log'
     returning pg_notify('latchkey_log', position::text)`,
    [position],
  );
}

export async function findLastPosition(db: Knex): Promise<number> {
  const row = await db<{ name: string; position: number }>('relay_positions')
    .where({ name: 'log' })
    .first('position');
  return row?.position ?? 0;
}

/** Published events after a position, in order. */
export function readEventsAfter(db: Knex, position: number, limit: number): Promise<NumberedRow[]> {
  return readEvents(db, (trx, columns) =>
    trx<NumberedRow>('events')
      .where('position', '>', position)
      .orderBy('position')
      .limit(limit)
      .select<NumberedRow[]>(trx.raw(columns)),
  );
}

/**
 * Reads events by any query, and reads those whose data the database has lost without their data. Every list
 * of events is read this way.
 * @param read runs the query with the given columns
 */
export async function readEvents(
  db: Knex,
  read: (db: Knex, columns: string) => PromiseLike<NumberedRow[]>,
): Promise<NumberedRow[]> {
  const rows = await unlessDataLost(db, (trx) => read(trx, COLUMNS));
  if (rows) return rows;
  const bare = await read(db, COLUMNS.replace(' data,', ` '{}'::jsonb as data,`));
  const kept = await readKeptData(
    db,
    bare.map(({ event_id }) => event_id),
  );
  return bare.map((row) => ({ ...row, data: kept.get(row.event_id) ?? {} }));
}

/** The data of events by id, without data that is lost. Halving the list finds it in few statements. */
async function readKeptData(
  db: Knex,
  eventIds: readonly string[],
): Promise<Map<string, NumberedRow['data']>> {
  const rows = await unlessDataLost(db, (trx) =>
    trx<NumberedRow>('events')
      .whereIn('event_id', eventIds)
      .select<Pick<NumberedRow, 'event_id' | 'data'>[]>('event_id', 'data'),
  );
  if (rows) return new Map(rows.map(({ event_id, data }) => [event_id, data]));
  if (eventIds.length === 1) return new Map();
  const middle = Math.ceil(eventIds.length / 2);
  const first = await readKeptData(db, eventIds.slice(0, middle));
  return new Map([...first, ...(await readKeptData(db, eventIds.slice(middle)))]);
}

/** @returns undefined where the database has lost a part of a row; the transaction stays usable */
async function unlessDataLost<Result>(
  db: Knex,
  read: (db: Knex) => PromiseLike<Result>,
): Promise<Result | undefined> {
  try {
    return await (db.isTransaction ? db.transaction(async (savepoint) => read(savepoint)) : read(db));
  } catch (error) {
    if ((error as { code?: unknown }).code === LOST_STATE) return undefined;
    throw error;
  }
}

/** Which events to read. */
export interface EventFilter {
  /** All types by default. */
  readonly types?: readonly string[] | undefined;
  readonly userId?: string | undefined;
}

/** Where to start, in which order, and how many to read. */
export interface EventRange {
  readonly position: number | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

/** Published events of an application after a position, in the order of the range. */
export function listEventsOfApplication(
  db: Knex,
  appId: string,
  { types, userId }: EventFilter,
  { position, order, limit }: EventRange,
): Promise<NumberedRow[]> {
  return readEvents(db, (trx, columns) => {
    const query = trx<NumberedRow>('events')
      .where({ app_id: appId })
      .whereNotNull('position')
      .orderBy('position', order)
      .limit(limit);
    if (types !== undefined) void query.whereIn('type', types as string[]);
    if (userId !== undefined) void query.where({ user_id: userId });
    if (position !== undefined) void query.where('position', order === 'asc' ? '>' : '<', position);
    return query.select<NumberedRow[]>(trx.raw(columns));
  });
}

/**
 * A session, and the event types that it receives as one of its application, as one of its user, and for
 * itself.
 */
export interface SessionFilter {
  readonly appId: string;
  readonly userId: string;
  readonly sessionDigest: Buffer;
  readonly types: {
    readonly application: readonly string[];
    readonly user: readonly string[];
    readonly session: readonly string[];
  };
}

/** Published events for a session after a position, in the order of the range. */
export function listEventsOfSession(
  db: Knex,
  { appId, userId, sessionDigest, types }: SessionFilter,
  { position, order, limit }: EventRange,
): Promise<NumberedRow[]> {
  const from = position ?? (order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER);
  const behind = order === 'asc' ? '>' : '<';
  return readEvents(db, async (trx, columns) => {
    const { rows } = await trx.raw<{ rows: NumberedRow[] }>(
      `select * from (
       (select ${columns} from events
        where app_id = :appId and type = any (:application::text[]) and position ${behind} :from
        order by position ${order} limit :limit)
       union all
       (select ${columns} from events
        where user_id = :userId and app_id = :appId and position ${behind} :from
          and (type = any (:user::text[]) or (type = any (:session::text[]) and session_digest = :sessionDigest))
        order by position ${order} limit :limit)
     ) found order by position ${order} limit :limit`,
      {
        appId,
        userId,
        sessionDigest,
        from,
        limit,
        application: types.application as string[],
        user: types.user as string[],
        session: types.session as string[],
      } as Record<string, Knex.RawBinding>,
    );
    return rows;
  });
}

/** The position of a published event of an application; undefined when it does not exist. */
export async function findPosition(db: Knex, appId: string, eventId: string): Promise<number | undefined> {
  const row = await db<NumberedRow>('events')
    .where({ event_id: eventId, app_id: appId })
    .whereNotNull('position')
    .first('position');
  return row?.position;
}

/** When the oldest unpublished event was written. */
export async function findOldestUnnumbered(db: Knex): Promise<Date | undefined> {
  const row = await db<EventRow & { position: number | null; fault: string | null }>('events')
    .where({ position: null, fault: null })
    .orderBy('sequence')
    .first('created_at');
  return row?.created_at;
}

/** The position of the last published event, and of the last one that the broker has. */
export async function findPositions(db: Knex): Promise<{ log: number; broker: number }> {
  const rows = await db<{ name: string; position: number }>('relay_positions').select('name', 'position');
  const of = (name: string) => rows.find((row) => row.name === name)?.position ?? 0;
  return { log: of('log'), broker: of('broker') };
}

/**
 * Deletes the oldest events in the order of publication, up to the first one that is younger than the limit.
 * So a client that finds the event at which it stopped reading also finds every later one.
 * @param consumer events after its position are kept
 * @returns how many
 */
export async function deleteFirstEvents(
  db: Knex,
  createdBefore: Date,
  consumer: 'log' | 'broker',
  limit: number,
): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `with first as (
       select event_id, created_at, position from events where position is not null order by position limit :limit
     )
     delete from events using first
     where events.event_id = first.event_id
       and first.position <
         coalesce((select min(position) from first where created_at >= :createdBefore), 'infinity'::float8)
       and first.position <= (select position from relay_positions where name = :consumer)`,
    { createdBefore, consumer, limit },
  );
  return rowCount;
}

/**
 * Deletes some events of an application that are published or set aside, except those of one type.
 * @param consumer as in deleteFirstEvents
 * @returns how many
 */
export async function deleteEventsOfApplication(
  db: Knex,
  appId: string,
  keptType: string,
  consumer: 'log' | 'broker',
  limit: number,
): Promise<number> {
  const some = db('events')
    .where({ app_id: appId })
    .whereNot({ type: keptType })
    .where((published) =>
      published
        .where('position', '<=', db('relay_positions').where({ name: consumer }).select('position'))
        .orWhereNotNull('fault'),
    )
    .limit(limit)
    .select('event_id');
  return db('events').whereIn('event_id', some).delete();
}

/** Published events of an application in a time span, the oldest first. */
export function readEventsOfApplication(
  db: Knex,
  appId: string,
  span: {
    readonly since: Date;
    readonly until: Date;
    readonly after: { readonly createdAt: Date; readonly eventId: string } | undefined;
  },
  limit: number,
): Promise<NumberedRow[]> {
  const { since, until, after } = span;
  return readEvents(db, (trx, columns) => {
    const query = trx<NumberedRow>('events')
      .where('app_id', appId)
      .whereNotNull('position')
      .where('created_at', '>=', since)
      .where('created_at', '<', until);
    if (after) void query.whereRaw('(created_at, event_id) > (?, ?)', [after.createdAt, after.eventId]);
    return query.orderBy(['created_at', 'event_id']).limit(limit).select<NumberedRow[]>(trx.raw(columns));
  });
}
