import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Backend } from './session.ts';

const TERMINATE_TIMEOUT_MS = 1_000;
const PAUSE_MS = 500;

/**
 * Sessions whose connections this process has dropped while a statement was running, and which the server may not have
 * ended: a COMMIT that waits for a lost standby continues without its client. They are terminated from another
 * connection, and count as open until the server has ended them.
 */
export interface Abandoned {
  /** Records a session whose connection was dropped before a response. */
  add(backend: Backend): void;
  /** How many of them may still be open. */
  count(): number;
}

/**
 * @param connection the address of the database, in the form of pg
 * @param over returns true once the sessions no longer matter
 */
export function createAbandoned(connection: pg.ClientConfig, over: () => boolean, logger: Logger): Abandoned {
  let left: Backend[] = [];
  let terminating = false;

  async function terminate(): Promise<void> {
    terminating = true;
    while (left.length > 0 && !over()) {
      const targets = left;
      const alive = await endSessions(connection, targets).catch((error: unknown) => {
        logger.debug({ err: error }, 'abandoned sessions could not be terminated');
        return new Set(targets.map(({ pid }) => pid));
      });
      left = left.filter((backend) => !targets.includes(backend) || alive.has(backend.pid));
      if (left.length > 0) await sleep(PAUSE_MS, undefined, { ref: false });
    }
    terminating = false;
  }

  return {
    add(backend) {
      left.push(backend);
      if (!terminating) void terminate();
    },
    count: () => left.length,
  };
}

/** @returns the process ids of the sessions that still existed */
async function endSessions(connection: pg.ClientConfig, backends: readonly Backend[]): Promise<Set<number>> {
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: TERMINATE_TIMEOUT_MS,
    query_timeout: TERMINATE_TIMEOUT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(
      // Another session may have the process id by now.
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
