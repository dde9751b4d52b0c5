import type { Knex } from 'knex';
import type { LicenseRow, LicenseStatus } from './license-state.ts';

/** What decides about a change of a license. */
export type ActionRow = Pick<
  LicenseRow,
  'license_id' | 'tier' | 'status' | 'redeemed_at' | 'redeemed_by' | 'status_before_ban'
>;

/** The licenses of an application among some ids, in the order of their ids. */
export async function findLicenses(db: Knex, appId: string, ids: readonly string[]): Promise<ActionRow[]> {
  return selected(db, appId, ids);
}

/** The same, locked until the transaction ends, in one order so that two transactions never wait for each other. */
export async function lockLicensesForUpdate(
  trx: Knex.Transaction,
  appId: string,
  ids: readonly string[],
): Promise<ActionRow[]> {
  return selected(trx, appId, ids).forUpdate();
}

function selected(db: Knex, appId: string, ids: readonly string[]) {
  return db<LicenseRow>('licenses')
    .where({ app_id: appId })
    .whereRaw('license_id = any (?::text[])', [[...ids]])
    .orderBy('license_id')
    .select('license_id', 'tier', 'status', 'redeemed_at', 'redeemed_by', 'status_before_ban');
}

/** The status of a license after a change, and the one that lifting its ban restores. */
export interface StatusChange {
  readonly licenseId: string;
  readonly status: LicenseStatus;
  readonly before: LicenseStatus | null;
}

/** Changes the statuses of licenses in one statement. */
export async function updateStatuses(
  trx: Knex.Transaction,
  changes: readonly StatusChange[],
  banReason: string | null,
): Promise<void> {
  await trx.raw(
    `update licenses l set status = n.status, status_before_ban = n.before, ban_reason = ?
     from unnest(?::text[], ?::text[], ?::text[]) as n (license_id, status, before)
     where l.license_id = n.license_id`,
    [
      banReason,
      changes.map(({ licenseId }) => licenseId),
      changes.map(({ status }) => status),
      changes.map(({ before }) => before),
    ] as unknown as Knex.RawBinding[],
  );
}

export async function deleteLicenses(trx: Knex.Transaction, ids: readonly string[]): Promise<void> {
  await trx('licenses')
    .whereRaw('license_id = any (?::text[])', [[...ids]])
    .delete();
}
