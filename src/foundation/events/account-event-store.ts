import type { Knex } from 'knex';
import type { NumberedRow } from './event-row.ts';

/** Reads events by any query that gets the columns, even those whose data is lost. */
type ReadEvents = (
  db: Knex,
  query: (db: Knex, columns: string) => PromiseLike<NumberedRow[]>,
) => Promise<NumberedRow[]>;

/** Which events to read; members that are left out match all. */
interface EventFilter {
  readonly types?: readonly string[] | undefined;
  readonly userId?: string | undefined;
}

/** A range that may end before the last event. */
export interface BoundedRange {
  readonly position: number | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The last position; every one by default. */
  readonly upTo?: number | undefined;
}

/** Published events of some applications after a position, in the order of the range. */
export async function listEventsOfApplications(
  db: Knex,
  readEvents: ReadEvents,
  appIds: readonly string[],
  filter: EventFilter,
  range: BoundedRange,
): Promise<NumberedRow[]> {
  const { types, userId } = filter;
  if (appIds.length === 0 || types?.length === 0) return [];
  return userId === undefined
    ? listByApplication(db, readEvents, appIds, types, range)
    : listByUser(db, readEvents, appIds, { types, userId }, range);
}

/**
 * First the next event of each application, or of each type in each application, then only those with the earliest: so
 * many applications cost as many steps in an index, and not as many pages.
 */
function listByApplication(
  db: Knex,
  readEvents: ReadEvents,
  appIds: readonly string[],
  types: readonly string[] | undefined,
  { position, upTo, order, limit }: BoundedRange,
): Promise<NumberedRow[]> {
  const [after, atOrAfter] = order === 'asc' ? ['>', '>='] : ['<', '<='];
  const [ofType, sameType] = types ? [', t.type', 'and e.type = s.type'] : ['', ''];
  const withTypes = types ? 'cross join unnest(:types::text[]) as t (type)' : '';
  return readEvents(db, async (trx, columns) => {
    const { rows } = await trx.raw<{ rows: NumberedRow[] }>(
      `with sources as (select a.app_id ${ofType} from unnest(:appIds::text[]) as a (app_id) ${withTypes}),
       heads as (
         select s.*, h.position as head from sources as s cross join lateral (
           select e.position from events as e
           where e.app_id = s.app_id ${sameType} and e.position ${after} :from and e.position <= :upTo
           order by e.position ${order} limit 1
         ) as h order by h.position ${order} limit :limit
       ),
       found as (
         select n.position from heads as s cross join lateral (
           select e.position from events as e
           where e.app_id = s.app_id ${sameType} and e.position ${atOrAfter} s.head and e.position <= :upTo
           order by e.position ${order} limit :limit
         ) as n order by n.position ${order} limit :limit
       )
       select ${columns} from events where position = any (array(select position from found))
       order by position ${order}`,
      {
        appIds: [...appIds],
        types: types ? [...new Set(types)] : [],
        from: position ?? (order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER),
        upTo: upTo ?? Number.MAX_SAFE_INTEGER,
        limit,
      },
    );
    return rows;
  });
}

function listByUser(
  db: Knex,
  readEvents: ReadEvents,
  appIds: readonly string[],
  { types, userId }: EventFilter,
  { position, upTo, order, limit }: BoundedRange,
): Promise<NumberedRow[]> {
  return readEvents(db, (trx, columns) => {
    const query = trx<NumberedRow>('events')
      .where({ user_id: userId })
      .whereRaw('app_id = any (?::text[])', [[...appIds]])
      .whereNotNull('position')
      .orderBy('position', order)
      .limit(limit);
    if (types !== undefined) void query.whereIn('type', types as string[]);
    if (position !== undefined) void query.where('position', order === 'asc' ? '>' : '<', position);
    if (upTo !== undefined) void query.where('position', '<=', upTo);
    return query.select<NumberedRow[]>(trx.raw(columns));
  });
}

/** The position of a published event of one of some applications; undefined when it does not exist. */
export async function findPositionOfAny(
  db: Knex,
  appIds: readonly string[],
  eventId: string,
): Promise<number | undefined> {
  const row = await db<NumberedRow>('events')
    .where({ event_id: eventId })
    .whereRaw('app_id = any (?::text[])', [[...appIds]])
    .whereNotNull('position')
    .first('position');
  return row?.position;
}
