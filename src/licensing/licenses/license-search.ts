import type { Knex } from 'knex';
import type { KeySafe, License } from './license.ts';
import * as store from './license-search-store.ts';
import type { LicenseRow } from './license-state.ts';

/** A trigram index cannot find shorter texts. */
const SHORTEST_PART = 3;

export interface FoundLicense extends License {
  readonly appId: string;
  readonly match: 'id' | 'license_key' | 'redeemed_by' | 'note';
}

/** Finds licenses of many applications. */
export interface LicenseSearch {
  /**
   * Licenses by id or key, by the users who redeemed them, or by a part of the note.
   * @returns up to `limit` licenses, the best matches first, and whether these are all
   */
  search(
    appIds: readonly string[],
    text: string,
    holderIds: readonly string[],
    limit: number,
  ): Promise<{ readonly licenses: readonly FoundLicense[]; readonly isComplete: boolean }>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly safe: KeySafe;
}

export function createLicenseSearch({ knex, safe }: Dependencies): LicenseSearch {
  /** Finds licenses by several indexes, from the best kind of match to the worst, until there are enough. */
  async function find(appIds: readonly string[], text: string, holderIds: readonly string[], limit: number) {
    const found = new Map<string, { readonly row: LicenseRow; readonly match: FoundLicense['match'] }>();
    function add(rows: readonly LicenseRow[], match: FoundLicense['match']): void {
      for (const row of rows) if (!found.has(row.license_id)) found.set(row.license_id, { row, match });
    }
    const named = { licenseId: text, keyDigest: safe.digestOf(text) };
    // A key can exist in several applications, because it may have been imported.
    const exact = await store.findByName(knex, appIds, named);
    add(exact, exact[0]?.license_id === text ? 'id' : 'license_key');
    const wanted = limit + 1;
    add(await store.findByHolders(knex, appIds, holderIds, wanted), 'redeemed_by');
    if (found.size > limit || [...text].length < SHORTEST_PART) return { found, isComplete: true };
    // Where many notes contain the part, the newest ones have it too, and the whole index need not be read.
    add(await store.findInNewest(knex, appIds, text, wanted), 'note');
    if (found.size > limit) return { found, isComplete: true };
    const rows = await store.findByNote(knex, appIds, text, wanted);
    add(rows ?? [], 'note');
    return { found, isComplete: rows !== undefined };
  }

  return {
    async search(appIds, text, holderIds, limit) {
      const { found, isComplete } = await find(appIds, text.trim(), holderIds, limit);
      const licenses = [...found.values()].slice(0, limit).map(({ row, match }) => {
        return { ...safe.open(row), appId: row.app_id, match };
      });
      return { licenses, isComplete: isComplete && found.size <= limit };
    },
  };
}
