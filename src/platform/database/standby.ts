import type pg from 'pg';
import { systemTimer } from '../clock.ts';

/** Commits wait for a standby that answers as well, but not for so long. */
const LONG_MS = 1_000;
/** Between one commit that is given up and the next one that has waited so long. */
const REMEMBERED_MS = 5_000;

/**
 * Tells whether commits wait in vain for a synchronous standby. The service's account sees the sessions of every node, but not
 * whether the standby is there: without writes nothing shows that it is lost, and nothing waits for it.
 */
export function createStandbyWatch(pool: pg.Pool): () => Promise<boolean> {
  let seenAt = -Infinity;
  return async () => {
    const { rows } = await pool.query<{ waiting: boolean }>({
      name: 'commits-waiting',
      text: `select exists (select from pg_stat_get_activity(null)
               where wait_event = 'SyncRep' and clock_timestamp() - query_start > $1 * interval '1 ms') as waiting`,
      values: [LONG_MS],
    });
    if (rows[0]!.waiting) seenAt = systemTimer();
    return systemTimer() - seenAt < REMEMBERED_MS;
  };
}
