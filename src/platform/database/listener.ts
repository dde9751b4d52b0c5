import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import pg from 'pg';

const CONNECT_WITHIN_MS = 2_000;
const RECONNECT_PAUSE_MS = 500;

/** Receives the notifications of some channels until it is closed. */
export interface Listener {
  close(): Promise<void>;
}

/**
 * Listens on channels of the database.
 * @param channels names that do not require quoting
 * @param onNotification called with the payload of each notification, and without one for every channel after each
 *   connect, because notifications in between may have been missed
 */
export type Listen = (
  channels: readonly string[],
  onNotification: (channel: string, payload?: string) => void,
) => Listener;

interface Subscription {
  readonly channels: readonly string[];
  readonly onNotification: (channel: string, payload?: string) => void;
}

/**
 * Receives notifications (LISTEN) on one connection for all listeners. It is open while there are listeners, and
 * reconnected whenever it is lost.
 * @param connection the address of the database, in the form of pg
 */
export function createListen(connection: pg.ClientConfig): Listen {
  const subscriptions = new Set<Subscription>();
  let session: Session | undefined;

  async function unsubscribe(subscription: Subscription): Promise<void> {
    subscriptions.delete(subscription);
    if (subscriptions.size > 0) return;
    const last = session;
    session = undefined;
    await last?.close();
  }

  return (channels, onNotification) => {
    const subscription = { channels, onNotification };
    subscriptions.add(subscription);
    if (session) session.subscribe(subscription);
    else session = openSession(connection, subscriptions);
    let closed: Promise<void> | undefined;
    return {
      close: () => (closed ??= unsubscribe(subscription)),
    };
  };
}

interface Session {
  /** Begins to listen for one more subscription. */
  subscribe(subscription: Subscription): void;
  close(): Promise<void>;
}

function openSession(connection: pg.ClientConfig, subscriptions: ReadonlySet<Subscription>): Session {
  const closing = new AbortController();
  let socket: Socket | undefined;
  /** Listens for one more subscription; only while it is connected. */
  let listenFor: ((subscription: Subscription) => Promise<void>) | undefined;

  async function connectAndListen(): Promise<void> {
    const own = (socket = new Socket());
    const client = new pg.Client({
      ...connection,
      stream: () => own,
      application_name: 'latchkey listener',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    client.on('error', () => {});
    client.on('notification', ({ channel, payload }) => {
      for (const { channels, onNotification } of subscriptions) {
        if (channels.includes(channel)) onNotification(channel, payload);
      }
    });
    try {
      await client.connect();
      // A client runs one query at a time.
      const inTurn = pLimit(1);
      listenFor = (subscription) =>
        inTurn(async () => {
          const { channels, onNotification } = subscription;
          for (const channel of channels) await client.query(`LISTEN ${channel}`);
          if (!subscriptions.has(subscription)) return;
          for (const channel of channels) onNotification(channel);
        });
      await Promise.all([...subscriptions].map(listenFor));
      if (!closing.signal.aborted) await ended;
    } finally {
      listenFor = undefined;
      // Ended without waiting: nothing is lost, and a hanging database would never confirm.
      own.destroy();
    }
  }

  const done = (async () => {
    while (!closing.signal.aborted) {
      await connectAndListen().catch(() => {});
      await delay(RECONNECT_PAUSE_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  })();
  return {
    subscribe(subscription) {
      // A connection that is lost meanwhile subscribes to everything when it is open again.
      listenFor?.(subscription).catch(() => socket?.destroy());
    },
    async close() {
      closing.abort();
      socket?.destroy();
      await done;
    },
  };
}
