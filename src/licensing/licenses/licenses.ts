import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Bulk } from '../../foundation/bulk/bulk.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Random } from '../../platform/random.ts';
import { createBulkActions, type BulkActions } from './bulk-actions.ts';
import { createLicenseChanges, type LicenseChanges } from './changes.ts';
import { createLicenseExtension, type LicenseExtension } from './extension.ts';
import { createGeneration, type Generation } from './generation.ts';
import { createLicenseImport, type LicenseImport } from './import.ts';
import { createKeySafe, sealContext } from './license.ts';
import * as store from './license-store.ts';
import { createLicenseCounting, type LicenseCounting } from './license-counts.ts';
import { createLicenseSearch, type LicenseSearch } from './license-search.ts';
import { createListing, type Listing } from './listing.ts';
import { createRedeeming, type Redeeming } from './redemption.ts';
import { createLicenseTransfer, type Holders, type LicenseTransfer } from './transfer.ts';

export type { NewLicenses } from './generation.ts';
export type { BulkAction, LicenseSlice } from './bulk-actions.ts';
export type { License } from './license.ts';
export { addLicenseNumbers, type LicenseCounts, type LicenseNumbers } from './license-counts.ts';
export { canonicalLicenseKey } from './license-key.ts';
export type { FoundLicense } from './license-search.ts';
export type { LicenseFilter } from './listing.ts';
export type { LicenseHolder, Redemption } from './redemption.ts';
export type { ResellerLicense, ResellerLicenseFilter, ResellerLicenses } from './reseller-licenses.ts';

const CLEARED_AT_ONCE = 1000;

/** Licenses of applications: operations of developers and of users. */
export interface Licenses
  extends
    Redeeming,
    Generation,
    LicenseChanges,
    BulkActions,
    LicenseExtension,
    LicenseTransfer,
    LicenseImport,
    LicenseSearch,
    Listing,
    LicenseCounting {
  /** Removes deleted users from redeemed keys, inside the caller's transaction; the keys stay redeemed. */
  forgetHolders(trx: Knex.Transaction, userIds: readonly string[]): Promise<void>;
  /** Deletes a batch of licenses of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
  /** Reseals a batch of keys under the current master key. @returns how many */
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly developers: Pick<Developers, 'takeLicenses'>;
  readonly holders: Holders;
  readonly bulk: Bulk;
  readonly events: Events;
  readonly keys: Keys;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

export function createLicenses({ keys, newId, ...deps }: Dependencies): Licenses {
  const { knex, keyring } = deps;
  const parts = { ...deps, safe: createKeySafe({ keys, keyring, newId }) };
  const listing = createListing(parts);
  return {
    ...createRedeeming(parts),
    ...createGeneration(parts),
    ...createLicenseChanges(parts),
    ...createLicenseExtension(parts),
    ...createLicenseTransfer(parts),
    ...createLicenseImport(parts),
    ...createBulkActions({ ...parts, listing }),
    ...listing,
    ...createLicenseSearch(parts),
    ...createLicenseCounting(parts),
    forgetHolders: store.forgetHolders,
    clearOf: (appId) => store.deleteLicensesOfApplication(knex, appId, CLEARED_AT_ONCE),
    reseal: store.createKeyResealer(knex, keyring, sealContext),
  };
}
