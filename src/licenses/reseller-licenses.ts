import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { KeySafe, License } from './license.ts';
import type { LicenseRow } from './license-state.ts';
import * as store from './reseller-license-store.ts';

export type { ResellerLicenseFilter } from './reseller-license-store.ts';

/** A licence that a reseller has generated. */
export interface ResellerLicense extends License {
  readonly appId: string;
}

/** What was taken back. */
export type ReturnedLicense = Pick<ResellerLicense, 'appId' | 'tier' | 'durationDays'>;

/** The licences of resellers: none of them shows or changes any but those that the reseller has generated. */
export interface ResellerLicenses {
  /** Newest first; those that match what is given. */
  list(
    resellerId: string,
    filter: store.ResellerLicenseFilter,
    page: PageRequest,
  ): Promise<Page<ResellerLicense>>;
  /**
   * Deletes an unused licence inside the caller's transaction, which holds the application, and tells.
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_NOT_REFUNDABLE
   */
  takeBack(
    trx: Knex.Transaction,
    actor: Actor,
    resellerId: string,
    licenseId: string,
  ): Promise<ReturnedLicense>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly events: Events;
  readonly safe: KeySafe;
}

export function createResellerLicenses({ knex, events, safe }: Dependencies): ResellerLicenses {
  return {
    async list(resellerId, filter, request) {
      const page = await readPage(
        request,
        'lic',
        (row: LicenseRow) => row.license_id,
        (range) => store.listLicensesOfReseller(knex, resellerId, filter, range),
      );
      return {
        data: page.data.map((row) => ({ ...safe.open(row), appId: row.app_id })),
        nextCursor: page.nextCursor,
      };
    },

    async takeBack(trx, actor, resellerId, licenseId) {
      const license = await store.lockLicenseOfReseller(trx, resellerId, licenseId);
      if (!license) throw new ApiError('LICENSE_NOT_FOUND');
      if (license.status !== 'unused') {
        throw new ApiError('LICENSE_NOT_REFUNDABLE', { detail: `The licence is ${license.status}.` });
      }
      await store.deleteLicense(trx, licenseId);
      const { app_id: appId, tier, duration_days: durationDays } = license;
      await events.record(trx, {
        type: 'license.deleted',
        appId,
        data: { license_id: licenseId, tier, duration_days: durationDays, reseller_id: resellerId },
        actor,
        target: licenseId,
      });
      return { appId, tier, durationDays };
    },
  };
}
