import type { Knex } from 'knex';
import type { Change, Events } from '../../foundation/events/events.ts';
import { takeAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { Clock } from '../../platform/clock.ts';
import { disableForSuspension, restoreAfterSuspension } from './application-state.ts';
import { toApplication } from './application.ts';
import * as store from './application-store.ts';
import { eventOfStatus } from './status-events.ts';

/** The applications of suspended developers. */
export interface ApplicationSuspensions {
  /**
   * Disables all applications of a developer that are not disabled yet, inside the caller's transaction.
   * @param isWanted called once the applications are locked; without its consent they stay as they are
   * @returns how many
   */
  disableAll(trx: Knex.Transaction, developerId: string, isWanted?: () => Promise<boolean>): Promise<number>;
  /**
   * Gives the applications that `disableAll` has disabled the status that they had before, inside the caller's
   * transaction.
   * @returns how many
   */
  restoreAll(trx: Knex.Transaction, developerId: string): Promise<number>;
  /** How many applications of a developer `disableAll` has disabled. */
  countDisabled(developerId: string): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly events: Pick<Events, 'record'>;
  readonly clock: Clock;
}

export function createApplicationSuspensions(deps: Dependencies): ApplicationSuspensions {
  const { knex, events, clock } = deps;

  /** Locks the applications of a developer for update, in one order, and reads them. */
  async function lockAll(trx: Knex.Transaction, developerId: string): Promise<store.ApplicationRow[]> {
    const appIds = (await store.listApplicationIds(trx, developerId)).sort();
    for (const appId of appIds) await takeAdvisoryLock(trx, appId);
    return store.findApplicationsOfDeveloper(trx, developerId, appIds);
  }

  /** Changes the status of an application. @returns the event */
  async function change(
    trx: Knex.Transaction,
    row: store.ApplicationRow,
    after: ReturnType<typeof disableForSuspension>,
    statusBefore: store.ApplicationRow['status_before_suspension'],
  ): Promise<Change> {
    await store.updateApplication(trx, row.app_id, {
      status: after.status,
      paused_at: after.pausedAt,
      paused_total_ms: after.pausedTotalMs,
      status_before_suspension: statusBefore,
      updated_at: clock.now(),
    });
    const data = { status_code: after.status, changed: [] };
    return { type: eventOfStatus(row.status, after.status), appId: row.app_id, data };
  }

  return {
    async disableAll(trx, developerId, isWanted = () => Promise.resolve(true)) {
      const rows = await lockAll(trx, developerId);
      if (!(await isWanted())) return 0;
      const enabled = rows.filter(({ status }) => status !== 'disabled');
      const changes: Change[] = [];
      for (const row of enabled)
        changes.push(await change(trx, row, disableForSuspension(toApplication(row)), row.status));
      await events.record(trx, ...changes);
      return changes.length;
    },

    async restoreAll(trx, developerId) {
      const rows = await lockAll(trx, developerId);
      const changes: Change[] = [];
      for (const row of rows) {
        const before = row.status_before_suspension;
        if (before === null) continue;
        const after = restoreAfterSuspension(toApplication(row), before, clock.now());
        changes.push(await change(trx, row, after, null));
      }
      await events.record(trx, ...changes);
      return changes.length;
    },

    countDisabled: (developerId) => store.countDisabledBySuspension(knex, developerId),
  };
}
