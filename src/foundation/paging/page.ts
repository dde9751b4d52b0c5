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
  const before =
    request.cursor === undefined ? undefined : Buffer.from(request.cursor, 'base64url').toString();
  if (
    before !== undefined &&
    (!new RegExp(`^${prefix}_[0-9a-z]{26}$`).test(before) || toCursor(before) !== request.cursor)
  ) {
    const fault = { pointer: 'query/cursor', detail: 'must be the next_cursor of the previous page' };
    throw new ApiError('VALIDATION_FAILED', { detail: `${fault.pointer} ${fault.detail}.`, errors: [fault] });
  }
  const rows = await list({ before, limit: request.limit + 1 });
  const data = rows.slice(0, request.limit);
  const last = data.at(-1);
  const more = rows.length > request.limit && last !== undefined;
  return { data, nextCursor: more ? toCursor(idOf(last)) : null };
}

function toCursor(id: string): string {
  return Buffer.from(id).toString('base64url');
}
