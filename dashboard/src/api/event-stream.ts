import { createStore } from '../lib/store.ts';
import { requestSignIn } from './client.ts';
import type { Problem } from './problem.ts';
import { onAnySessionChange } from './session-channel.ts';
import { canShare, nameFor, openChannel, type StreamStatus, type TabMessage } from './stream/channel.ts';
import { followEvents, type LiveEvent } from './stream/connection.ts';
import { createRecentIds } from './stream/recent.ts';
import { whileVisible } from './stream/visible.ts';

export type { LiveEvent, StreamStatus };

/** What a part of a page does with events. */
export interface EventListener {
  /** Several events in the order of publication, each once. */
  readonly onEvents: (events: readonly LiveEvent[]) => void;
  /** Events arrive without a gap after this; what was read before may lack some. */
  readonly onStart: () => void;
}

/** Leaving one live page for another one keeps the stream. */
const LINGER_MS = 2_000;

/** Whether events arrive. */
export const streamStatus = createStore<StreamStatus>({ state: 'connecting' });

let stream: ReturnType<typeof createEventStream> | undefined;

/**
 * Listens to the events of all applications of a developer, over one stream for all tabs of the browser. The tab that
 * has the lock reads it for the others. When that tab closes, another one continues after the last event.
 * @returns stops listening
 */
export function listenToEvents(account: string, listener: EventListener): () => void {
  stream ??= createEventStream(account);
  return stream.add(listener);
}

/** Connects now instead of waiting for the next attempt. */
export function retryStream(): void {
  stream?.retry();
}

function createEventStream(account: string) {
  const listeners = new Set<EventListener>();
  let running: ReturnType<typeof startStream> | undefined;
  let leaving: ReturnType<typeof setTimeout> | undefined;
  return {
    add(listener: EventListener) {
      clearTimeout(leaving);
      listeners.add(listener);
      if (!running) running = startStream(account, listeners);
      else if (streamStatus.get().state === 'connected') queueMicrotask(listener.onStart);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        leaving = setTimeout(() => {
          running?.stop();
          running = undefined;
        }, LINGER_MS);
      };
    },
    retry: () => running?.retry(),
  };
}

/** Takes part in the stream of the browser: as the tab that reads it, or as one of those that it is read for. */
function startStream(account: string, listeners: ReadonlySet<EventListener>) {
  const stopping = new AbortController();
  const recent = createRecentIds();
  let hurry = new AbortController();
  let session = new AbortController();
  let isLeader = false;
  let lastId: string | undefined;
  let hasStarted = false;
  streamStatus.set({ state: 'connecting' });

  const channel = openChannel(account, receive);
  const isShared = canShare();
  const send = (message: TabMessage) => {
    if (isShared) channel.send(message);
  };

  function start(): void {
    hasStarted = true;
    listeners.forEach((listener) => listener.onStart());
  }

  function deliver(events: readonly LiveEvent[], last: string | undefined): void {
    lastId = last ?? lastId;
    const fresh = events.filter(({ id }) => recent.add(id));
    if (last !== undefined) recent.add(last);
    if (fresh.length > 0) listeners.forEach((listener) => listener.onEvents(fresh));
  }

  /**
   * Shows the status, and starts unless the stream continues after an event that this tab has. A tab that has not
   * started may have events of the stream, but lacks those before them.
   */
  function show(status: StreamStatus, from: string | undefined): void {
    streamStatus.set(status);
    if (status.state !== 'connected') return;
    const isContinued = hasStarted && from !== undefined && recent.has(from);
    if (!isContinued) start();
  }

  function report(status: StreamStatus, from?: string): void {
    send({ kind: 'status', status, ...(from !== undefined && { from }), ...(lastId && { lastId }) });
    show(status, from);
  }

  function tryNow(): void {
    hurry.abort();
    hurry = new AbortController();
  }

  function receive(message: TabMessage): void {
    if (message.kind === 'hello' || message.kind === 'retry') {
      if (!isLeader) return;
      if (message.kind === 'retry') return tryNow();
      return send({
        kind: 'status',
        status: streamStatus.get(),
        ...(lastId && { from: lastId, lastId }),
      });
    }
    if (message.kind === 'events') {
      // A tab that reads the stream itself knows better where it is.
      return deliver(message.events, isLeader ? undefined : message.lastId);
    }
    if (isLeader) return;
    if (message.kind === 'reset') return start();
    show(message.status, message.from);
    if (lastId === undefined && message.lastId !== undefined) deliver([], message.lastId);
    // The tab that reads the stream may be hidden, and its dialog too.
    if (message.status.failure?.status === 401 && !document.hidden) void requestSignIn();
  }

  async function lead(signal: AbortSignal): Promise<void> {
    isLeader = true;
    await followEvents({
      account,
      signal,
      lastId: () => lastId,
      hurry: () => hurry.signal,
      sameSession: () => session.signal,
      onConnecting: () => {
        // The reason of a failure stays visible during the next attempt.
        if (streamStatus.get().state === 'connected') report({ state: 'connecting' });
      },
      onConnected: (from) => report({ state: 'connected' }, from),
      onFailed: ({ details }: Problem) => report({ state: 'failed', failure: details }),
      onEvents: (events, last) => {
        send({ kind: 'events', events, ...(last !== undefined && { lastId: last }) });
        deliver(events, last);
      },
      onReset: () => {
        send({ kind: 'reset' });
        start();
      },
    });
    isLeader = false;
  }

  const stopListening = onAnySessionChange(() => {
    session.abort();
    session = new AbortController();
    tryNow();
  });
  window.addEventListener('online', tryNow);
  send({ kind: 'hello' });
  if (isShared) {
    navigator.locks
      .request(nameFor(account), { signal: stopping.signal }, () => lead(stopping.signal))
      // It stopped while another tab had the lock.
      .catch(() => {});
  } else {
    // A browser has few connections to a host, so only the tabs that can be seen have a stream.
    void whileVisible(stopping.signal, lead);
  }

  return {
    retry() {
      tryNow();
      send({ kind: 'retry' });
    },
    stop() {
      stopping.abort();
      stopListening();
      window.removeEventListener('online', tryNow);
      channel.close();
    },
  };
}
