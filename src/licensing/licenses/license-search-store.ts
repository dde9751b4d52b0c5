import type { Knex } from 'knex';
import { containing, readByBitmapWithin } from '../../platform/database/time-boxed-read.ts';
import type { LicenseRow } from './license-state.ts';

/** The newest licenses that are looked at, in all applications together. */
const WINDOW = 20_000;
/** Such a read takes a millisecond unless very many notes of all tenants contain the part. */
const TIME_MS = 300;

/** The license with an id, or those with a key: at most one of each application. */
export async function findByName(
  db: Knex,
  appIds: readonly string[],
  { licenseId, keyDigest }: { readonly licenseId: string; readonly keyDigest: Buffer | undefined },
): Promise<LicenseRow[]> {
  const own = () => db<LicenseRow>('licenses').whereRaw('app_id = any (?::text[])', [[...appIds]]);
  const byId = await own().where({ license_id: licenseId });
  return keyDigest && byId.length === 0 ? own().where({ key_digest: keyDigest }) : byId;
}

/** The newest licenses that users have redeemed. */
export async function findByHolders(
  db: Knex,
  appIds: readonly string[],
  userIds: readonly string[],
  limit: number,
): Promise<LicenseRow[]> {
  if (userIds.length === 0) return [];
  return db<LicenseRow>('licenses')
    .whereRaw('app_id = any (?::text[]) and redeemed_by = any (?::text[])', [[...appIds], [...userIds]])
    .limit(limit);
}

/** Licenses among the newest ones of each application whose note contains a part. */
export async function findInNewest(
  db: Knex,
  appIds: readonly string[],
  part: string,
  limit: number,
): Promise<LicenseRow[]> {
  const { rows } = await db.raw<{ rows: LicenseRow[] }>(
    `select l.* from unnest(:appIds::text[]) a (app_id) cross join lateral (
       select * from licenses n where n.app_id = a.app_id order by n.license_id desc limit :window
     ) l where l.note ilike :pattern limit :limit`,
    {
      appIds: appIds as string[],
      window: Math.ceil(WINDOW / appIds.length),
      pattern: containing(part),
      limit,
    } as Record<string, Knex.RawBinding>,
  );
  return rows;
}

/** Licenses whose note contains a part of at least three characters. @returns undefined if that took too long */
export async function findByNote(
  knex: Knex,
  appIds: readonly string[],
  part: string,
  limit: number,
): Promise<LicenseRow[] | undefined> {
  return readByBitmapWithin(knex, TIME_MS, (trx) =>
    trx<LicenseRow>('licenses')
      .whereRaw('note ilike ?', [containing(part)])
      .whereRaw('app_id = any (?::text[])', [[...appIds]])
      .limit(limit),
  );
}
