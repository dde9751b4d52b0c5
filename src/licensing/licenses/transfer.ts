import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Applications } from '../../accounts/applications/applications.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import { moveSubscription } from '../subscriptions/subscriptions.ts';
import type { KeySafe, License } from './license.ts';
import * as store from './license-store.ts';

const ATTEMPTS = 5;

/** The operations on users that licenses depend on. */
export interface Holders {
  /** @throws ApiError USER_NOT_FOUND; VALIDATION_FAILED for an invalid name */
  find(db: Knex, appId: string, username: string): Promise<{ readonly userId: string }>;
  /** Ends logins with a license, if it was the one that created the user. */
  forgetLicense(trx: Knex.Transaction, userId: string, licenseId: string): Promise<void>;
  /**
   * Locks the rows of users until the transaction ends, in the order of their ids.
   * @param nowait fails at once if another transaction has locked one
   */
  lockAllForUpdate(
    trx: Knex.Transaction,
    userIds: readonly string[],
    options?: { readonly nowait?: boolean },
  ): Promise<void>;
}

export interface LicenseTransfer {
  /**
   * Moves what is left of a redeemed license from its holder to another user of the application.
   * @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND, USER_NOT_FOUND, LICENSE_STATE_CONFLICT,
   *   LICENSE_ALREADY_HELD, LICENSE_NOTHING_LEFT, LICENSE_NOT_APPLICABLE; VALIDATION_FAILED for an invalid name
   */
  transfer(actor: Actor, appId: string, licenseId: string, username: string): Promise<License>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly holders: Holders;
  readonly safe: KeySafe;
  readonly events: Events;
  readonly clock: Clock;
}

/** The license was moved, or the name of its new holder reassigned, while users were locked. */
class Moved extends Error {}

export function createLicenseTransfer(deps: Dependencies): LicenseTransfer {
  const { knex, applications, holders, safe, events, clock } = deps;

  async function transfer(
    trx: Knex.Transaction,
    actor: Actor,
    appId: string,
    licenseId: string,
    username: string,
  ): Promise<License> {
    const application = await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
    const { redeemed_by: from, ...license } = assertRedeemed(
      await store.findLicenseById(trx, appId, licenseId),
    );
    const { userId: to } = await holders.find(trx, appId, username);
    if (from === to) throw new ApiError('LICENSE_ALREADY_HELD');
    // Users before licenses, as in a redemption.
    await holders.lockAllForUpdate(trx, [from, to]);
    // The user may have been deleted while the lock was awaited.
    if ((await holders.find(trx, appId, username)).userId !== to) throw new Moved();
    const locked = assertRedeemed(await store.lockLicenseByIdForUpdate(trx, appId, licenseId));
    if (locked.redeemed_by !== from) throw new Moved();

    const now = clock.now();
    const grant = { tier: license.tier, durationDays: license.duration_days };
    const moved = await moveSubscription(trx, { from, to }, grant, application, now);
    if (moved === 'nothing') throw new ApiError('LICENSE_NOTHING_LEFT');
    if (moved === 'refused') throw new ApiError('LICENSE_NOT_APPLICABLE', { status: 409 });
    const row = await store.updateLicense(trx, licenseId, { redeemed_by: to });
    await holders.forgetLicense(trx, from, licenseId);

    const { tier } = license;
    const endOf = (end: Date | null) => ({ tier, expires_at: end?.toISOString() ?? null });
    await events.record(
      trx,
      {
        type: 'license.transferred',
        appId,
        data: { license_id: licenseId, tier, from_user_id: from, to_user_id: to },
        actor,
        target: licenseId,
      },
      { type: 'user.subscription_reduced', appId, userId: from, data: endOf(moved.from) },
      { type: 'user.subscription_extended', appId, userId: to, data: endOf(moved.to) },
    );
    return safe.open(row);
  }

  return {
    async transfer(actor, appId, licenseId, username) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await knex.transaction((trx) => transfer(trx, actor, appId, licenseId, username));
        } catch (error) {
          if (!(error instanceof Moved)) throw error;
          if (attempt === ATTEMPTS) throw new ApiError('LICENSE_STATE_CONFLICT', { cause: error });
        }
      }
    },
  };
}

function assertRedeemed(
  row: store.LicenseRow | undefined,
): store.LicenseRow & { readonly redeemed_by: string } {
  if (!row) throw new ApiError('LICENSE_NOT_FOUND');
  const { status, redeemed_by } = row;
  if (status !== 'redeemed') {
    throw new ApiError('LICENSE_STATE_CONFLICT', { detail: `The license is ${status}.` });
  }
  if (redeemed_by === null) throw new ApiError('LICENSE_NOTHING_LEFT');
  return { ...row, redeemed_by };
}
