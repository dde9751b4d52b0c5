import type pg from 'pg';
import { systemTimer } from '../clock.ts';

/** Commits also wait for a standby that responds, but not this long. */
const LONG_MS = 1_000;
/** The time from one canceled commit until the next has waited this long. */
const REMEMBERED_MS = 5_000;

/**
 * Detects whether commits wait for a synchronous standby that does not respond. The service's account sees the sessions
 * of every node, but not the standby itself: without writes, its loss is not visible, and nothing waits for it.
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
