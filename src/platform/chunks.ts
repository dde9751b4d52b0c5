import { setImmediate as nextIteration } from 'node:timers/promises';

/** Small enough that what a chunk leaves for the end of the iteration, mostly writes to sockets, takes 1 or 2 ms. */
export const CHUNK_SIZE = 25;

/** Does something for each item, in order. @returns when all is done */
export type ForEachInChunks = <Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => void,
) => Promise<void>;

/**
 * For many short steps that leave most of their work to the end of the event loop iteration, where the time
 * that a step takes does not include it: the event loop runs other work after each chunk. Consecutive calls share their
 * chunks.
 */
export function createForEachInChunks(): ForEachInChunks {
  let done = 0;
  return async (items, work) => {
    for (const [index, item] of items.entries()) {
      if (done >= CHUNK_SIZE) {
        await nextIteration();
        done = 0;
      }
      done += 1;
      work(item, index);
    }
  };
}
