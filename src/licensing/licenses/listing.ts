import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { KeySafe, License } from './license.ts';
import { createdLicensesCsv, licensesCsv } from './license-csv.ts';
import { listLicenses, type RowFilter, type Search } from './license-list-store.ts';
import type { LicenseRow } from './license-store.ts';
import type { Holders } from './transfer.ts';

const EXPORTED_AT_ONCE = 500;
/** A trigram index cannot find shorter texts. */
const SEARCHED_IN_NOTES = 3;

export interface LicenseFilter extends Pick<RowFilter, 'status' | 'tier' | 'resellerId'> {
  /** A part of the note, a whole key, or the name or id of the user who redeemed it. */
  readonly q?: string | undefined;
}

/** Reads the ids of the next matching licenses, newest first. */
export type LicenseSelector = (page: {
  readonly before: string | undefined;
  readonly limit: number;
}) => Promise<string[]>;

export interface Listing {
  /** Finds the ids of matching licenses of an application; the caller has checked whose it is. */
  selector(appId: string, filter: LicenseFilter): Promise<LicenseSelector>;
  /** Licenses that match, newest first. @throws ApiError APPLICATION_NOT_FOUND */
  list(developerId: string, appId: string, page: PageRequest, filter?: LicenseFilter): Promise<Page<License>>;
  /**
   * All matching licenses, newest first, in chunks that are read on demand.
   * @throws ApiError APPLICATION_NOT_FOUND
   */
  export(developerId: string, appId: string, filter: LicenseFilter): Promise<AsyncIterable<License[]>>;
  /** New licenses as CSV, in chunks of text. */
  toCsv(made: readonly License[]): AsyncIterable<string>;
  /** Licenses with all columns as CSV, in chunks of text. */
  exportToCsv(parts: AsyncIterable<readonly License[]>): AsyncIterable<string>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly holders: Holders;
  readonly safe: KeySafe;
}

export function createListing({ knex, applications, holders, safe }: Dependencies): Listing {
  /** @returns undefined if no user has this name */
  async function userIdOf(appId: string, username: string): Promise<string | undefined> {
    try {
      return (await holders.find(knex, appId, username)).userId;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'USER_NOT_FOUND' || error.code === 'VALIDATION_FAILED') return undefined;
      throw error;
    }
  }

  async function toSearch(appId: string, q: string): Promise<Search> {
    const named = await userIdOf(appId, q);
    return {
      noteHas: [...q].length >= SEARCHED_IN_NOTES ? q : undefined,
      keyDigest: safe.digestOf(q),
      holderIds: named === undefined ? [q] : [q, named],
    };
  }

  async function toRowFilter(appId: string, { q, ...filter }: LicenseFilter): Promise<RowFilter> {
    return q === undefined ? filter : { ...filter, search: await toSearch(appId, q) };
  }

  async function* parts(appId: string, filter: RowFilter): AsyncGenerator<License[]> {
    for (let before: string | undefined; ;) {
      const rows = await listLicenses(knex, appId, filter, { before, limit: EXPORTED_AT_ONCE });
      if (rows.length > 0) yield rows.map(safe.open);
      if (rows.length < EXPORTED_AT_ONCE) return;
      before = rows.at(-1)!.license_id;
    }
  }

  return {
    async selector(appId, filter) {
      const rowFilter = await toRowFilter(appId, filter);
      return async (page) => {
        const rows = await listLicenses(knex, appId, rowFilter, page);
        return rows.map(({ license_id }) => license_id);
      };
    },

    async list(developerId, appId, request, filter = {}) {
      await applications.ofDeveloper(developerId, appId);
      const rowFilter = await toRowFilter(appId, filter);
      const page = await readPage(
        request,
        'lic',
        (row: LicenseRow) => row.license_id,
        (range) => listLicenses(knex, appId, rowFilter, range),
      );
      return { data: page.data.map(safe.open), nextCursor: page.nextCursor };
    },

    async export(developerId, appId, filter) {
      await applications.ofDeveloper(developerId, appId);
      return parts(appId, await toRowFilter(appId, filter));
    },

    toCsv: createdLicensesCsv,
    exportToCsv: licensesCsv,
  };
}
