import type { LiveEvent } from '../../api/event-stream.ts';

/** The newest part of a list of events: what has arrived since the list was read. */
export interface LiveState {
  /** Newest first, above what was read. */
  readonly shown: readonly LiveEvent[];
  /** What has arrived while the reader did not want rows to move, newest first. */
  readonly waiting: readonly LiveEvent[];
  /** How many have arrived meanwhile, also those that are no longer kept. */
  readonly waitingCount: number;
  /** Those that were added last. */
  readonly fresh: ReadonlySet<string>;
  /** What is read begins after this event; undefined is the newest one. */
  readonly after: string | undefined;
}

/** The most events that arrived and are kept. Older ones are read again when the reader scrolls to them. */
export const KEPT = 1_000;

export const NOTHING_LIVE: LiveState = {
  shown: [],
  waiting: [],
  waitingCount: 0,
  fresh: new Set(),
  after: undefined,
};

/** @param events in the order of publication */
export function arrive(state: LiveState, events: readonly LiveEvent[], isHeld: boolean): LiveState {
  const waiting = [...events.toReversed(), ...state.waiting].slice(0, KEPT);
  const next = { ...state, waiting, waitingCount: state.waitingCount + events.length };
  return isHeld ? next : showWaiting(next);
}

/** Puts what has waited on top of the list. */
export function showWaiting(state: LiveState): LiveState {
  const { waiting, waitingCount } = state;
  if (waitingCount === 0) return state;
  const fresh = new Set(waiting.map(({ id }) => id));
  const isComplete = waitingCount === waiting.length;
  const all = isComplete ? [...waiting, ...state.shown] : waiting;
  const isAll = isComplete && all.length <= KEPT;
  // Half of them, so that what is below is not read again with each event.
  const shown = isAll ? all : all.slice(0, KEPT / 2);
  return {
    shown,
    waiting: [],
    waitingCount: 0,
    fresh,
    after: isAll ? state.after : shown.at(-1)!.id,
  };
}
