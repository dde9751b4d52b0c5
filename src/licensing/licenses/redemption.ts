import type { Knex } from 'knex';
import type { Application } from '../../accounts/applications/applications.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import { noteAccount } from '../../platform/request-scope.ts';
import { extendSubscription } from '../subscriptions/subscriptions.ts';
import type { KeySafe } from './license.ts';
import { redeemability } from './license-state.ts';
import * as store from './license-store.ts';

/** A redeemed license and its user. */
export interface LicenseHolder {
  readonly licenseId: string;
  readonly userId: string;
}

export interface Redemption {
  readonly licenseId: string;
  readonly tier: string;
  /** When the tier that the key gave ends. */
  readonly expiresAt: Date;
}

/** Redemption of keys by users. */
export interface Redeeming {
  /**
   * Refuses a key that cannot be redeemed, before any other work.
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_ALREADY_USED, LICENSE_UNUSABLE
   */
  assertRedeemable(db: Knex, application: Application, licenseKey: string): Promise<void>;
  /**
   * The user that a key logs in.
   * @returns the license and the user who redeemed it; undefined for an unused key
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_UNUSABLE
   */
  holderOf(db: Knex, application: Application, licenseKey: string): Promise<LicenseHolder | undefined>;
  /**
   * Redeems a key for a user, exactly once, inside the caller's transaction, which locks the user's row.
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_ALREADY_USED, LICENSE_UNUSABLE, LICENSE_NOT_APPLICABLE
   */
  redeem(
    trx: Knex.Transaction,
    application: Application,
    userId: string,
    licenseKey: string,
  ): Promise<Redemption>;
}

interface Dependencies {
  readonly safe: KeySafe;
  readonly events: Events;
  readonly clock: Clock;
}

export function createRedeeming({ safe, events, clock }: Dependencies): Redeeming {
  function digestOf(licenseKey: string): Buffer {
    const digest = safe.digestOf(licenseKey);
    if (!digest) throw new ApiError('LICENSE_NOT_FOUND');
    return digest;
  }

  function assertUsable(row: store.LicenseRow | undefined): asserts row is store.LicenseRow {
    if (!row) throw new ApiError('LICENSE_NOT_FOUND');
    const state = redeemability(row, clock.now());
    if (state === 'used') throw new ApiError('LICENSE_ALREADY_USED');
    if (state === 'unusable') throw new ApiError('LICENSE_UNUSABLE');
  }

  return {
    async assertRedeemable(db, application, licenseKey) {
      assertUsable(await store.findLicense(db, application.appId, digestOf(licenseKey)));
    },

    async holderOf(db, application, licenseKey) {
      const license = await store.findLicense(db, application.appId, digestOf(licenseKey));
      if (license && license.redeemed_by !== null) noteAccount(license.redeemed_by);
      if (license?.status === 'redeemed' && license.redeemed_by !== null) {
        return { licenseId: license.license_id, userId: license.redeemed_by };
      }
      assertUsable(license);
      return undefined;
    },

    async redeem(trx, application, userId, licenseKey) {
      const license = await store.lockLicenseForUpdate(trx, application.appId, digestOf(licenseKey));
      assertUsable(license);
      const now = clock.now();
      const grant = { tier: license.tier, durationDays: license.duration_days };
      const expiresAt = await extendSubscription(trx, userId, grant, application, now);
      if (!expiresAt) throw new ApiError('LICENSE_NOT_APPLICABLE');
      await store.markRedeemed(trx, license.license_id, userId, now);
      await events.record(trx, {
        type: 'license.redeemed',
        appId: application.appId,
        userId,
        data: {
          license_id: license.license_id,
          tier: license.tier,
          duration_days: license.duration_days,
          expires_at: expiresAt.toISOString(),
        },
      });
      return { licenseId: license.license_id, tier: license.tier, expiresAt };
    },
  };
}
