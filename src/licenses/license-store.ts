import type { Knex } from 'knex';
import { createResealer } from '../platform/database/reseal.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { LicenseStatus } from './license-state.ts';

export interface LicenseRow {
  readonly license_id: string;
  readonly app_id: string;
  readonly key_digest: Buffer;
  readonly key_sealed: Buffer;
  readonly tier: string;
  readonly duration_days: number | null;
  readonly status: LicenseStatus;
  readonly note: string | null;
  readonly redeem_by: Date | null;
  readonly created_at: Date;
  readonly redeemed_at: Date | null;
  readonly redeemed_by: string | null;
  /** The reseller who generated it; null for the developer's own. */
  readonly reseller_id: string | null;
}

export interface Batch {
  readonly app_id: string;
  readonly reseller_id: string | null;
  readonly tier: string;
  readonly duration_days: number | null;
  readonly note: string | null;
  readonly redeem_by: Date | null;
  readonly created_at: Date;
  readonly keys: readonly {
    readonly license_id: string;
    readonly key_digest: Buffer;
    readonly key_sealed: Buffer;
  }[];
}

/** Inserts all keys of a batch in one statement, or none. */
export async function insertLicenses(db: Knex, { keys, ...common }: Batch): Promise<void> {
  await db.raw(
    `insert into licenses (license_id, key_digest, key_sealed, app_id, tier, duration_days, note, redeem_by, created_at, reseller_id)
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
      keys.map((key) => key.key_digest),
      keys.map((key) => key.key_sealed),
    ] as Knex.RawBinding[],
  );
}

/** Reads a licence and holds its row until the transaction ends: of several redemptions, one sees it unused. */
export async function lockLicense(
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

/** Newest first; ids sort by time of creation. */
export async function listLicenses(
  db: Knex,
  appId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<LicenseRow[]> {
  const query = db<LicenseRow>('licenses')
    .where({ app_id: appId })
    .orderBy('license_id', 'desc')
    .limit(page.limit);
  return page.before === undefined ? query : query.where('license_id', '<', page.before);
}

/** Deletes some licences of an application. @returns how many */
export async function deleteLicensesOfApplication(db: Knex, appId: string, limit: number): Promise<number> {
  const some = db('licenses').where({ app_id: appId }).limit(limit).select('license_id');
  return db('licenses').whereIn('license_id', some).delete();
}

/** Seals keys anew under the current master key, a part at a call. @returns how many each call found */
export function createKeyResealer(
  db: Knex,
  keyring: Keyring,
  context: (id: string) => string,
): () => Promise<number> {
  return createResealer(db, keyring, { table: 'licenses', id: 'license_id', column: 'key_sealed', context });
}
