import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const CONNECT_WITHIN_MS = 2_000;
const RECONNECT_PAUSE_MS = 500;

/** A connection that receives notifications (LISTEN), reconnected whenever it is lost. */
export interface Listener {
  close(): Promise<void>;
}

/**
 * Listens on channels of the database.
 * @param connection the address of the database, in the form of pg
 * @param channels names that do not require quoting
 * @param onNotification called with the payload of each notification, and without one for every channel after each
 *   connect, because notifications in between may have been missed
 */
export function listen(
  connection: pg.ClientConfig,
  channels: readonly string[],
  onNotification: (channel: string, payload?: string) => void,
): Listener {
  const closing = new AbortController();
  let socket: Socket | undefined;

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
    client.on('notification', ({ channel, payload }) => onNotification(channel, payload));
    try {
      await client.connect();
      for (const channel of channels) await client.query(`LISTEN ${channel}`);
      for (const channel of channels) onNotification(channel);
      if (!closing.signal.aborted) await ended;
    } finally {
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
    async close() {
      closing.abort();
      socket?.destroy();
      await done;
    },
  };
}
