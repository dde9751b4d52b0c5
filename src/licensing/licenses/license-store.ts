import type { Knex } from 'knex';
import { byteaArray } from '../../platform/database/bytea-array.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { KeyColumns, LicenseRow } from './license-state.ts';

export type { KeyColumns, LicenseRow } from './license-state.ts';

/** The common properties of a batch of keys. */
export interface Batch extends Pick<
  LicenseRow,
  'app_id' | 'reseller_id' | 'tier' | 'duration_days' | 'note' | 'redeem_by' | 'created_at'
> {
  readonly keys: readonly KeyColumns[];
}

/** Inserts all keys of a batch in one statement, or none. */
export async function insertLicenses(db: Knex, { keys, ...common }: Batch): Promise<void> {
  await db.raw(
    `insert into licenses
       (license_id, key_digest, key_sealed, app_id, tier, duration_days, note, redeem_by, created_at, reseller_id)
     select k.license_id, k.key_digest, k.key_sealed, ?, ?, ?::integer, ?, ?::timestamptz, ?, ?::text
     from unnest(?::text[], ?::bytea[], ?::bytea[]) as k (license_id, key_digest, key_sealed)`,
    [
      common.app_id,
      common.tier,
      common.duration_days as number,
      common.note as string,
      common.redeem_by as Date,
      common.created_at,
      common.reseller_id as string,
      keys.map((key) => key.license_id),
      byteaArray(keys.map((key) => key.key_digest)),
      byteaArray(keys.map((key) => key.key_sealed)),
    ] as Knex.RawBinding[],
  );
}

export type ImportedRow = KeyColumns &
  Pick<LicenseRow, 'tier' | 'duration_days' | 'note' | 'redeem_by' | 'status' | 'redeemed_at' | 'ban_reason'>;

/**
 * Inserts keys of another system.
 * @returns the ids of the new ones; the application already has the others
 */
export async function insertImported(
  trx: Knex.Transaction,
  appId: string,
  createdAt: Date,
  rows: readonly ImportedRow[],
): Promise<Set<string>> {
  const { rows: inserted } = await trx.raw<{ rows: { license_id: string }[] }>(
    `insert into licenses
       (app_id, created_at, license_id, key_digest, key_sealed, tier, duration_days, note, redeem_by, status,
        redeemed_at, ban_reason)
     select ?, ?, k.*
     from unnest(?::text[], ?::bytea[], ?::bytea[], ?::text[], ?::integer[], ?::text[], ?::timestamptz[],
       ?::text[], ?::timestamptz[], ?::text[]) as k
     on conflict on constraint licenses_key do nothing
     returning license_id`,
    [
      appId,
      createdAt,
      rows.map((row) => row.license_id),
      byteaArray(rows.map((row) => row.key_digest)),
      byteaArray(rows.map((row) => row.key_sealed)),
      rows.map((row) => row.tier),
      rows.map((row) => row.duration_days),
      rows.map((row) => row.note),
      rows.map((row) => row.redeem_by?.toISOString() ?? null),
      rows.map((row) => row.status),
      rows.map((row) => row.redeemed_at?.toISOString() ?? null),
      rows.map((row) => row.ban_reason),
    ] as unknown as Knex.RawBinding[],
  );
  return new Set(inserted.map((row) => row.license_id));
}

/**
 * Reads a license and locks its row until the transaction ends: of concurrent redemptions, only one reads it as unused.
 */
export async function lockLicenseForUpdate(
  trx: Knex.Transaction,
  appId: string,
  keyDigest: Buffer,
): Promise<LicenseRow | undefined> {
  return trx<LicenseRow>('licenses').where({ app_id: appId, key_digest: keyDigest }).forNoKeyUpdate().first();
}

export async function findLicense(
  db: Knex,
  appId: string,
  keyDigest: Buffer,
): Promise<LicenseRow | undefined> {
  return db<LicenseRow>('licenses').where({ app_id: appId, key_digest: keyDigest }).first();
}

export async function findLicenseById(
  db: Knex,
  appId: string,
  licenseId: string,
): Promise<LicenseRow | undefined> {
  return db<LicenseRow>('licenses').where({ app_id: appId, license_id: licenseId }).first();
}

/** Reads a license by its id and locks its row until the transaction ends. */
export async function lockLicenseByIdForUpdate(
  trx: Knex.Transaction,
  appId: string,
  licenseId: string,
): Promise<LicenseRow | undefined> {
  return trx<LicenseRow>('licenses').where({ app_id: appId, license_id: licenseId }).forUpdate().first();
}

/** @returns the updated license */
export async function updateLicense(
  trx: Knex.Transaction,
  licenseId: string,
  changes: Partial<
    Pick<LicenseRow, 'status' | 'note' | 'redeem_by' | 'redeemed_by' | 'ban_reason' | 'status_before_ban'>
  >,
): Promise<LicenseRow> {
  const [row] = await trx<LicenseRow>('licenses')
    .where({ license_id: licenseId })
    .update(changes)
    .returning('*');
  return row as LicenseRow;
}

export async function deleteLicense(trx: Knex.Transaction, licenseId: string): Promise<void> {
  await trx('licenses').where({ license_id: licenseId }).delete();
}

export async function markRedeemed(
  trx: Knex.Transaction,
  licenseId: string,
  userId: string,
  redeemedAt: Date,
): Promise<void> {
  await trx('licenses')
    .where({ license_id: licenseId })
    .update({ status: 'redeemed', redeemed_by: userId, redeemed_at: redeemedAt });
}

/**
 * Removes the references to users from the licenses that they redeemed. Locks the licenses in the order of their ids,
 * as bulk actions do, so that two transactions never wait for each other.
 */
export async function forgetHolders(trx: Knex.Transaction, userIds: readonly string[]): Promise<void> {
  const rows = await trx<LicenseRow>('licenses')
    .whereRaw('redeemed_by = any (?::text[])', [[...userIds]])
    .orderBy('license_id')
    .forNoKeyUpdate()
    .select('license_id');
  if (rows.length === 0) return;
  await trx('licenses')
    .whereRaw('license_id = any (?::text[])', [rows.map(({ license_id }) => license_id)])
    .update({ redeemed_by: null });
}

/** Deletes a batch of licenses of an application. @returns how many */
export async function deleteLicensesOfApplication(db: Knex, appId: string, limit: number): Promise<number> {
  const some = db('licenses').where({ app_id: appId }).limit(limit).select('license_id');
  return db('licenses').whereIn('license_id', some).delete();
}

/** Reseals keys under the current master key, a batch at each call. @returns how many each call found */
export function createKeyResealer(
  db: Knex,
  keyring: Keyring,
  context: (id: string) => string,
): () => Promise<number> {
  return createResealer(db, keyring, { table: 'licenses', id: 'license_id', column: 'key_sealed', context });
}
