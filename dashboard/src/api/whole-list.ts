import { queryOptions, type QueryKey, type UseQueryResult } from '@tanstack/react-query';
import { type CursorList, type CursorPage, PAGE_SIZE } from './pages.ts';
import { asProblem } from './problem.ts';

interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

/** Reads all pages of a list that the contract limits to a few, so that it can be searched and summed up. */
export const wholeListOptions = <Item>(
  queryKey: QueryKey,
  read: (query: PageQuery, signal: AbortSignal) => Promise<CursorPage<Item>>,
) =>
  queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<readonly Item[]> => {
      const items: Item[] = [];
      let cursor: string | null = null;
      do {
        const page: CursorPage<Item> = await read({ limit: PAGE_SIZE, ...(cursor && { cursor }) }, signal);
        items.push(...page.data);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return items;
    },
  });

/** A whole list, as a table takes it. @param items those that the user has not filtered out */
export function asCursorList<Item>(
  query: Pick<UseQueryResult<unknown>, 'isPending' | 'error' | 'refetch'>,
  items: readonly Item[],
): CursorList<Item> {
  const reload = () => void query.refetch();
  return {
    items,
    isLoading: query.isPending,
    isLoadingMore: false,
    hasMore: false,
    error: query.error ? asProblem(query.error) : null,
    loadMore: reload,
    reload,
  };
}
