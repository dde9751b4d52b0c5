import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type EventListener, listenToEvents, streamStatus, type StreamStatus } from '../api/event-stream.ts';
import { recordRequest } from '../api/request-log.ts';
import { STREAM_PATH } from '../api/stream/connection.ts';
import { useStore } from '../lib/store.ts';
import { sessionQuery } from './queries.ts';

/** Listens to the events of the account while the component is shown. @returns whether events arrive */
export function useEvents(listener: EventListener): StreamStatus {
  const account = useQuery(sessionQuery).data?.developer_id ?? undefined;
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => {
    if (account === undefined) return;
    recordRequest({ method: 'GET', path: STREAM_PATH });
    return listenToEvents(account, {
      onEvents: (events) => latest.current.onEvents(events),
      onStart: () => latest.current.onStart(),
    });
  }, [account]);
  return useStore(streamStatus);
}
