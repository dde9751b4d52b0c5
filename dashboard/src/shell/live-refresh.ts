import { useEffect, useRef } from 'react';
import type { LiveEvent, StreamStatus } from '../api/event-stream.ts';
import { useEvents } from './live-events.ts';

interface Refreshing {
  /** Whether an event changes what is shown. */
  readonly isRelevant: (event: LiveEvent) => boolean;
  /** Reads again what is shown. */
  readonly refresh: () => void;
  /** However much happens, it is read again at most once in this time. */
  readonly everyMs: number;
}

/** Reads something again after events that change it: at once after the first, later after those that follow. */
export function useRefreshByEvents({ isRelevant, refresh, everyMs }: Refreshing): StreamStatus {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isDue = useRef(false);
  const latest = useRef(refresh);
  useEffect(() => {
    latest.current = refresh;
  });
  useEffect(() => () => clearTimeout(timer.current), []);

  function run(): void {
    if (timer.current !== undefined) {
      isDue.current = true;
      return;
    }
    latest.current();
    timer.current = setTimeout(() => {
      timer.current = undefined;
      if (!isDue.current) return;
      isDue.current = false;
      run();
    }, everyMs);
  }

  return useEvents({
    onEvents: (events) => {
      if (events.some(isRelevant)) run();
    },
    onStart: run,
  });
}
