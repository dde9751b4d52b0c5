import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryKey,
  useInfiniteQuery,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Problem } from './problem.ts';

/** A page of a list, as every list of the contract has it. */
export interface CursorPage<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

/** The pages of a list that have been read so far, as one list. */
export interface CursorList<Item> {
  readonly items: readonly Item[];
  /** How many items were read for a list that shows only some of them. */
  readonly lookedAt?: number;
  readonly isLoading: boolean;
  readonly isLoadingMore: boolean;
  readonly hasMore: boolean;
  readonly error: Problem | null;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

/** The largest page that the contract allows. */
export const PAGE_SIZE = 100;

/** Reads one page of a list. */
type Read<Page> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page>;

/** How to read a list page by page. */
export function pagesOptions<Page extends CursorPage<unknown>>(queryKey: QueryKey, read: Read<Page>) {
  return infiniteQueryOptions<Page, Problem, InfiniteData<Page>, QueryKey, string | undefined>({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    // Comparing each new page with all pages before it would take longer with every page.
    structuralSharing: false,
  });
}

/** The pages that have been read so far as one list. */
export function useListOf<Item>(
  query: UseInfiniteQueryResult<InfiniteData<CursorPage<Item>>, Problem>,
): CursorList<Item> {
  const pages = query.data?.pages;
  const items = useMemo(() => (pages ?? []).flatMap(({ data }) => data), [pages]);
  return {
    items,
    isLoading: query.isPending,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    error: query.error,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
    reload: () => void query.refetch(),
  };
}

/** The items of a list that match what its operation cannot filter by. */
export const filterList = <Item>(
  list: CursorList<Item>,
  matches: (item: Item) => boolean,
): CursorList<Item> => ({ ...list, items: list.items.filter(matches), lookedAt: list.items.length });

/** Reads a list page by page. */
export function useCursorList<Item>(queryKey: QueryKey, read: Read<CursorPage<Item>>): CursorList<Item> {
  return useListOf(useInfiniteQuery(pagesOptions(queryKey, read)));
}
