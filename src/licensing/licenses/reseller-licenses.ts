import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { KeySafe, License } from './license.ts';
import type { LicenseRow } from './license-state.ts';
import * as store from './reseller-license-store.ts';

export type { ResellerLicenseFilter } from './reseller-license-store.ts';

/** A license that a reseller has generated. */
export interface ResellerLicense extends License {
  readonly appId: string;
}

/** The refunded license. */
export type ReturnedLicense = Pick<ResellerLicense, 'appId' | 'tier' | 'durationDays'>;

/** A reseller, and the developer whose licenses the reseller sells. */
export interface Seller {
  readonly resellerId: string;
  readonly developerId: string;
}

/** The licenses of resellers: each operation covers only licenses that the reseller has generated. */
export interface ResellerLicenses {
  /** The matching licenses, newest first. */
  list(
    seller: Seller,
    filter: store.ResellerLicenseFilter,
    page: PageRequest,
  ): Promise<Page<ResellerLicense>>;
  /** The application of a license; undefined when the reseller has no such license. */
  appOf(resellerId: string, licenseId: string): Promise<string | undefined>;
  /** The ids of users who have redeemed a license of the reseller, below one id, in descending order. */
  holders(
    seller: Seller,
    range: { readonly before: string | undefined; readonly limit: number },
  ): Promise<string[]>;
  /** The application of a user who has redeemed a license of the reseller; undefined for other users. */
  appOfHolder(resellerId: string, userId: string): Promise<string | undefined>;
  /**
   * Deletes an unused license inside the caller's transaction, which locks the application, and records the event.
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
  readonly applications: Pick<Applications, 'idsOfDeveloper'>;
  readonly events: Events;
  readonly safe: KeySafe;
}

export function createResellerLicenses(deps: Dependencies): ResellerLicenses {
  const { knex, applications, events, safe } = deps;

  return {
    async list({ developerId, resellerId }, { status, appId }, request) {
      const ownAppIds = await applications.idsOfDeveloper(knex, developerId);
      const appIds = ownAppIds.filter((id) => appId === undefined || id === appId);
      const page = await readPage(
        request,
        'lic',
        (row: LicenseRow) => row.license_id,
        (range) => store.listLicensesOfReseller(knex, resellerId, appIds, { status }, range),
      );
      return {
        data: page.data.map((row) => ({ ...safe.open(row), appId: row.app_id })),
        nextCursor: page.nextCursor,
      };
    },

    async appOf(resellerId, licenseId) {
      return (await store.findLicenseOfReseller(knex, resellerId, licenseId))?.app_id;
    },

    async holders({ developerId, resellerId }, range) {
      const appIds = await applications.idsOfDeveloper(knex, developerId);
      return store.listHoldersOfReseller(knex, resellerId, appIds, range);
    },

    appOfHolder: (resellerId, userId) => store.findAppOfHolder(knex, resellerId, userId),

    async takeBack(trx, actor, resellerId, licenseId) {
      const license = await store.lockLicenseOfResellerForUpdate(trx, resellerId, licenseId);
      if (!license) throw new ApiError('LICENSE_NOT_FOUND');
      if (license.status !== 'unused') {
        throw new ApiError('LICENSE_NOT_REFUNDABLE', { detail: `The license is ${license.status}.` });
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
