import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useReducer, useRef, useState } from 'react';
import type { LiveEvent, StreamStatus } from '../../api/event-stream.ts';
import { type CursorList, PAGE_SIZE, pagesOptions, useListOf } from '../../api/pages.ts';
import { useEvents } from '../../shell/live-events.ts';
import { arrive, type LiveState, NOTHING_LIVE, showWaiting } from './live-state.ts';
import { type Event, type EventFilter, type EventScope, eventsKey, matches, readEvents } from './queries.ts';

/** Rows move at most this often, however many events happen. */
const BATCH_MS = 250;
/** If the stream cannot be opened, the list does not wait for it any longer. */
const PATIENCE_MS = 1_500;

export interface EventList {
  readonly list: CursorList<Event>;
  readonly status: StreamStatus;
  readonly waitingCount: number;
  readonly fresh: ReadonlySet<string>;
  /** Shows what has arrived while the list was held. */
  readonly show: () => void;
}

type Change =
  | { readonly kind: 'arrive'; readonly events: readonly LiveEvent[]; readonly isHeld: boolean }
  | { readonly kind: 'show' | 'clear' };

function reduce(state: LiveState, change: Change): LiveState {
  if (change.kind === 'arrive') return arrive(state, change.events, change.isHeld);
  return change.kind === 'show' ? showWaiting(state) : NOTHING_LIVE;
}

/**
 * Events newest first: those that happen now above those that were read, without a gap or a repetition.
 * @param isHeld keeps what happens waiting, so that no row moves
 */
export function useEventList(scope: EventScope, filter: EventFilter, isHeld: boolean): EventList {
  const [live, change] = useReducer(reduce, NOTHING_LIVE);
  const [isReady, setReady] = useState(false);
  const batch = useBatch((events) => change({ kind: 'arrive', events, isHeld }));

  const history = useInfiniteQuery({
    ...pagesOptions([...eventsKey(scope), 'list', filter, live.after], async (cursor, signal) => {
      const after = cursor ?? live.after;
      const range = { order: 'desc', limit: PAGE_SIZE, after } as const;
      const page = await readEvents(scope, filter, range, signal);
      return { data: page.data, next_cursor: page.has_more ? page.last_event_id : null };
    }),
    // Only when the stream is open is nothing missing between what was read and what arrives.
    enabled: isReady,
    staleTime: Infinity,
    gcTime: 0,
    refetchOnMount: 'always',
  });

  const status = useEvents({
    onEvents: (events) => batch.add(events.filter((event) => matches(event, scope, filter))),
    onStart() {
      batch.clear();
      change({ kind: 'clear' });
      if (isReady) void history.refetch();
      setReady(true);
    },
  });
  const hasState = status.state !== 'connecting';
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), hasState ? 0 : PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [hasState]);

  useEffect(() => {
    if (!isHeld) change({ kind: 'show' });
  }, [isHeld]);

  const read = useListOf<Event>(history);
  const items = useMemo(() => {
    const above = new Set([...live.shown, ...live.waiting].map(({ id }) => id));
    return [...live.shown, ...read.items.filter(({ id }) => !above.has(id))];
  }, [live.shown, live.waiting, read.items]);
  return {
    list: { ...read, items, isLoading: read.isLoading && items.length === 0 },
    status,
    waitingCount: live.waitingCount,
    fresh: live.fresh,
    show: () => change({ kind: 'show' }),
  };
}

/** Collects events, and passes them on together. */
function useBatch(pass: (events: readonly LiveEvent[]) => void) {
  const latest = useRef(pass);
  useEffect(() => {
    latest.current = pass;
  });
  const [batch] = useState(() => {
    let events: LiveEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const clear = () => {
      clearTimeout(timer);
      timer = undefined;
      events = [];
    };
    return {
      add(more: readonly LiveEvent[]) {
        if (more.length === 0) return;
        events.push(...more);
        timer ??= setTimeout(() => {
          const together = events;
          clear();
          latest.current(together);
        }, BATCH_MS);
      },
      clear,
    };
  });
  useEffect(() => batch.clear, [batch]);
  return batch;
}
