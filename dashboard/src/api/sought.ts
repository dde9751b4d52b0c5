import { useEffect } from 'react';
import type { CursorList } from './pages.ts';

/** The items that are looked through. */
const AT_MOST = 1_000;

/**
 * Finds the item of an address in a list without an operation that reads a single one. Reads pages until it is found.
 */
export function useSought<Item>(
  list: CursorList<Item>,
  id: string | undefined,
  idOf: (item: Item) => string,
): { readonly item: Item | undefined; readonly isSought: boolean } {
  const item = id === undefined ? undefined : list.items.find((each) => idOf(each) === id);
  const mayFollow = list.isLoading || (list.hasMore && list.items.length < AT_MOST && !list.error);
  const isSought = id !== undefined && item === undefined && mayFollow;
  useEffect(() => {
    if (isSought) list.loadMore();
  }, [isSought, list]);
  return { item, isSought };
}
