import { setImmediate as nextTurn } from 'node:timers/promises';

/** Few enough that what they leave to do at the end of a turn, writes to sockets above all, takes a millisecond or two. */
export const SLICE = 25;

/** Does something for each of many, in their order. @returns when all is done */
export type InSlices = <Item>(
  items: readonly Item[],
  work: (item: Item, place: number) => void,
) => Promise<void>;

/**
 * For many short steps that leave more to do at the end of the turn than they take themselves, which no clock sees while it
 * gathers: behind each slice the event loop is given to others. Calls that follow each other share their slices.
 */
export function createSlices(): InSlices {
  let done = 0;
  return async (items, work) => {
    for (const [place, item] of items.entries()) {
      if (done >= SLICE) {
        await nextTurn();
        done = 0;
      }
      done += 1;
      work(item, place);
    }
  };
}
