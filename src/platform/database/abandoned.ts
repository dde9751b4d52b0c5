import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Backend } from './session.ts';

const ASK_WITHIN_MS = 1_000;
const PAUSE_MS = 500;

/**
 * The sessions that this process has left while they had something to do, and which the server may not have ended: a COMMIT
 * that waits for a lost standby goes on without its client. They are ended from another connection, and until the server
 * has none of them any more they count.
 */
export interface Abandoned {
  /** Notes a session whose connection was dropped without an answer. */
  add(backend: Backend): void;
  /** How many there may still be. */
  count(): number;
}

/**
 * @param connection where the database is, as pg takes it
 * @param over tells when there is no use in looking after them any more
 */
export function createAbandoned(connection: pg.ClientConfig, over: () => boolean, logger: Logger): Abandoned {
  let left: Backend[] = [];
  let looking = false;

  async function look(): Promise<void> {
    looking = true;
    while (left.length > 0 && !over()) {
      const asked = left;
      const alive = await endSessions(connection, asked).catch((error: unknown) => {
        logger.debug({ err: error }, 'sessions that were left could not be ended');
        return new Set(asked.map(({ pid }) => pid));
      });
      left = left.filter((backend) => !asked.includes(backend) || alive.has(backend.pid));
      if (left.length > 0) await sleep(PAUSE_MS, undefined, { ref: false });
    }
    looking = false;
  }

  return {
    add(backend) {
      left.push(backend);
      if (!looking) void look();
    },
    count: () => left.length,
  };
}

/** @returns the process ids of those that were still there */
async function endSessions(connection: pg.ClientConfig, backends: readonly Backend[]): Promise<Set<number>> {
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: ASK_WITHIN_MS,
    query_timeout: ASK_WITHIN_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(
      // Another session may have got the number since.
      `select activity.pid, pg_terminate_backend(activity.pid)
       from unnest($1::int[], $2::timestamptz[]) as abandoned (pid, seen_at)
       join pg_stat_activity activity on activity.pid = abandoned.pid and activity.backend_start <= abandoned.seen_at
       where activity.usename = current_user`,
      [backends.map(({ pid }) => pid), backends.map(({ seenAt }) => seenAt)],
    );
    return new Set(rows.map(({ pid }) => pid));
  } finally {
    void client.end().catch(() => {});
  }
}
