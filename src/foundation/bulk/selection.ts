import { invalidMember } from '../errors/api-error.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import { fromCursor, idPlaces, toCursor } from '../paging/page.ts';

/** Things that are changed in one transaction: some tenths of a second, in which others may wait for their locks. */
const SLICE = 500;
/** Things that one call examines at most, when a filter selects them. */
const EXAMINED = 10_000;

/** The things to change, named by their ids, or found by a filter. */
export interface Selection<Filter> {
  readonly ids?: readonly string[] | undefined;
  /** Undefined for all, if there are no ids. */
  readonly filter?: Filter | undefined;
  /** Where an earlier call with the same filter ended. */
  readonly cursor?: string | undefined;
  /** Whether to return what would change instead of changing it. */
  readonly dryRun: boolean;
}

/** The reasons why things stay as they are, by id; things that change are not in it. */
export type Refusals = ReadonlyMap<string, ErrorCode>;

export interface BulkOutcome {
  /** How many things were selected. */
  readonly matched: number;
  readonly changed: number;
  /** Ids of the request that stay as they are, with the reasons; empty for a filter. */
  readonly unchanged: readonly { readonly id: string; readonly code: ErrorCode }[];
  /** Where the next call continues; null at the end. */
  readonly nextCursor: string | null;
}

interface Options<Filter> {
  /** Of the ids. */
  readonly prefix: string;
  /** The code of ids that do not exist. */
  readonly notFound: ErrorCode;
  /** Reads the next ids that match a filter, newest first. */
  readonly list: (
    filter: Filter | undefined,
    page: { readonly before: string | undefined; readonly limit: number },
  ) => Promise<string[]>;
  /** Changes up to 500 things in a transaction of its own. */
  readonly change: (ids: readonly string[]) => Promise<Refusals>;
}

/**
 * Changes selected things slice by slice. Slices that are changed stay changed if a later one fails.
 * @throws ApiError VALIDATION_FAILED for a filter without a member, or a cursor of something else
 */
export async function changeSelected<Filter extends object>(
  selection: Selection<Filter>,
  options: Options<Filter>,
): Promise<BulkOutcome> {
  assertSelective(selection);
  return selection.ids ? changeNamed(selection.ids, options) : changeMatching(selection, options);
}

async function changeNamed(
  named: readonly string[],
  { notFound, change }: Pick<Options<never>, 'notFound' | 'change'>,
): Promise<BulkOutcome> {
  // In one order, so that two calls never wait for each other.
  const ids = [...new Set(named)].sort();
  const unchanged: { id: string; code: ErrorCode }[] = [];
  for (let start = 0; start < ids.length; start += SLICE) {
    const refusals = await change(ids.slice(start, start + SLICE));
    unchanged.push(...[...refusals].map(([id, code]) => ({ id, code })));
  }
  const unknown = unchanged.filter(({ code }) => code === notFound).length;
  return {
    matched: ids.length - unknown,
    changed: ids.length - unchanged.length,
    unchanged,
    nextCursor: null,
  };
}

async function changeMatching<Filter extends object>(
  { filter, cursor }: Selection<Filter>,
  { prefix, list, change }: Options<Filter>,
): Promise<BulkOutcome> {
  const places = idPlaces<string>(prefix, (id) => id);
  let before = cursor === undefined ? undefined : fromCursor(cursor, '/cursor', places);
  let matched = 0;
  let changed = 0;
  while (matched < EXAMINED) {
    // One more than a slice shows whether there is another one.
    const ids = await list(filter, { before, limit: SLICE + 1 });
    const slice = ids.slice(0, SLICE);
    if (slice.length > 0) changed += slice.length - (await change(slice.toSorted())).size;
    matched += slice.length;
    if (ids.length <= SLICE) return { matched, changed, unchanged: [], nextCursor: null };
    before = slice.at(-1)!;
  }
  return { matched, changed, unchanged: [], nextCursor: toCursor(before!) };
}

/** A misspelled member must not select everything. */
function assertSelective({ ids, filter, cursor }: Selection<object>): void {
  if (filter && Object.values(filter).every((value) => value === undefined)) {
    throw invalidMember(
      '/filter',
      'must have at least one of the filters; send all instead to name everything',
    );
  }
  if (ids && cursor !== undefined) throw invalidMember('/cursor', 'has no place next to ids');
}
