import type { Knex } from 'knex';
import type { LicenseStatus } from './license-state.ts';
import * as store from './license-count-store.ts';

const FOLDED_AT_ONCE = 2000;

/** How many licenses there are, in total and by status. */
export type LicenseNumbers = Readonly<Record<LicenseStatus | 'total', number>>;

/** The licenses of an application. */
export interface LicenseCounts extends LicenseNumbers {
  /** The tiers that have licenses, those with the most first. */
  readonly byTier: readonly (LicenseNumbers & { readonly tier: string })[];
}

/** The numbers of licenses, which the database maintains with every change of a license. */
export interface LicenseCounting {
  /**
   * The licenses of some applications, exactly, by application; those without licenses have zeros.
   * @param db the caller's transaction or connection
   */
  countsOf(db: Knex, appIds: readonly string[]): Promise<ReadonlyMap<string, LicenseCounts>>;
  /** Adds a batch of changes to the counts. @returns how many */
  foldCounts(): Promise<number>;
}

export function createLicenseCounting({ knex }: { readonly knex: Knex }): LicenseCounting {
  return {
    async countsOf(db, appIds) {
      const rows = await store.readLicenseCounts(db, appIds);
      const byApp = Map.groupBy(rows, ({ app_id }) => app_id);
      return new Map(appIds.map((appId) => [appId, toCounts(byApp.get(appId) ?? [])]));
    },

    foldCounts: () => knex.transaction((trx) => store.foldChanges(trx, FOLDED_AT_ONCE)),
  };
}

/** The sum of some numbers. */
export function addLicenseNumbers(all: Iterable<LicenseNumbers>): LicenseNumbers {
  const sum = { total: 0, unused: 0, redeemed: 0, paused: 0, banned: 0 };
  for (const numbers of all) {
    for (const key of Object.keys(sum) as (keyof LicenseNumbers)[]) sum[key] += numbers[key];
  }
  return sum;
}

function toCounts(rows: readonly store.LicenseCountRow[]): LicenseCounts {
  const byTier = [...Map.groupBy(rows, ({ tier }) => tier)]
    .map(([tier, ofTier]) => ({ tier, ...addLicenseNumbers(ofTier.map(toNumbers)) }))
    .sort((a, b) => b.total - a.total || (a.tier < b.tier ? -1 : 1));
  return { ...addLicenseNumbers(byTier), byTier };
}

function toNumbers({ status, count }: store.LicenseCountRow): LicenseNumbers {
  return { total: count, unused: 0, redeemed: 0, paused: 0, banned: 0, [status]: count };
}
