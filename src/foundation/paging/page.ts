import { ApiError } from '../errors/api-error.ts';

export interface PageRequest {
  readonly limit: number;
  /** `nextCursor` of the previous page. */
  readonly cursor: string | undefined;
}

export interface Page<Item> {
  readonly data: Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** The places of rows in an order, as cursors contain them. */
export interface Places<Row> {
  of(row: Row): string;
  /** Whether a text can be a place. */
  has(text: string): boolean;
}

/**
 * Reads one page of a list that is ordered by id, newest first. A cursor is the last id of the previous page,
 * so that pages neither repeat nor skip rows that existed from the start.
 * @param list reads up to `limit` rows whose id is below `before`
 * @throws ApiError VALIDATION_FAILED when the cursor does not come from a page
 */
export async function readPage<Row>(
  request: PageRequest,
  prefix: string,
  idOf: (row: Row) => string,
  list: (page: { before: string | undefined; limit: number }) => Promise<Row[]>,
): Promise<Page<Row>> {
  return readOrderedPage(request, idPlaces(prefix, idOf), ({ after, limit }) =>
    list({ before: after, limit }),
  );
}

/** The places of rows in the order of their ids. */
export function idPlaces<Row>(prefix: string, idOf: (row: Row) => string): Places<Row> {
  const id = new RegExp(`^${prefix}_[0-9a-z]{26}$`);
  return { of: idOf, has: (text) => id.test(text) };
}

/**
 * Reads one page of a list in any order without ties.
 * @param list reads up to `limit` rows that come after a place
 * @throws ApiError VALIDATION_FAILED when the cursor does not come from a page in this order
 */
export async function readOrderedPage<Row>(
  request: PageRequest,
  places: Places<Row>,
  list: (page: { after: string | undefined; limit: number }) => Promise<Row[]>,
): Promise<Page<Row>> {
  const after = request.cursor === undefined ? undefined : fromCursor(request.cursor, 'query/cursor', places);
  const rows = await list({ after, limit: request.limit + 1 });
  const data = rows.slice(0, request.limit);
  const last = data.at(-1);
  const more = rows.length > request.limit && last !== undefined;
  return { data, nextCursor: more ? toCursor(places.of(last)) : null };
}

export function toCursor(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/** @throws ApiError VALIDATION_FAILED at the pointer when the cursor does not come from a page in this order */
export function fromCursor(cursor: string, pointer: string, places: Pick<Places<never>, 'has'>): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  if (places.has(place) && toCursor(place) === cursor) return place;
  const fault = { pointer, detail: 'must be the next_cursor of the previous page' };
  throw new ApiError('VALIDATION_FAILED', { detail: `${fault.pointer} ${fault.detail}.`, errors: [fault] });
}
