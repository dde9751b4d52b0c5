import type { BulkStep, BulkTarget, StepOptions } from './bulk.ts';

/** A dry run can be aborted. A change that was sent is awaited, because it would happen anyway. */
export const readSignal = ({ isDryRun, signal }: StepOptions): AbortSignal | undefined =>
  isDryRun ? signal : undefined;

/**
 * The members of a request that choose its rows.
 * @param chosen the member that names rows by their ids
 * @param filter what the list shows
 */
export const selectRows = <Chosen extends object, Filter extends object>(
  target: BulkTarget,
  { cursor, isDryRun }: StepOptions,
  chosen: (ids: string[]) => Chosen,
  filter: Filter,
) => ({
  ...(target === 'listed' ? selectListed(filter) : chosen([...target.ids])),
  ...(cursor !== undefined && { cursor }),
  ...(isDryRun && { dry_run: true }),
});

const selectListed = <Filter extends object>(filter: Filter) =>
  Object.keys(filter).length > 0 ? { filter } : { all: true as const };

/** What the request did. @param idOf the id of a row that stayed as it was */
export const toStep = <Row extends { readonly code: string }>(
  result: {
    readonly matched: number;
    readonly changed: number;
    readonly unchanged: readonly Row[];
    readonly next_cursor: string | null;
  },
  requestId: string | undefined,
  idOf: (row: Row) => string,
): BulkStep => ({
  matched: result.matched,
  changed: result.changed,
  unchanged: result.unchanged.map((row) => ({ id: idOf(row), code: row.code })),
  next: result.next_cursor,
  requestId,
});
