import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import type { Applications } from '../applications/applications.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import type { Clock } from '../platform/clock.ts';
import { lockUsers, moveSubscription } from '../subscriptions/subscriptions.ts';
import type { KeySafe, License } from './license.ts';
import * as store from './license-store.ts';

const ATTEMPTS = 5;

/** What licences ask of the users of an application. */
export interface Holders {
  /** @throws ApiError USER_NOT_FOUND; VALIDATION_FAILED for what cannot be a name */
  find(db: Knex, appId: string, username: string): Promise<{ readonly userId: string }>;
  /** A user's licence no longer logs him in, if it was the one that made him. */
  forgetLicense(trx: Knex.Transaction, userId: string, licenseId: string): Promise<void>;
}

export interface LicenseTransfer {
  /**
   * Moves what is left of a redeemed licence from its holder to another user of the application.
   * @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND, USER_NOT_FOUND, LICENSE_STATE_CONFLICT,
   *   LICENSE_ALREADY_HELD, LICENSE_NOTHING_LEFT, LICENSE_NOT_APPLICABLE; VALIDATION_FAILED for what cannot be a name
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

/** Somebody else has moved the licence, or taken the name of its new holder, while users were locked. */
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
    const application = await applications.holdOfDeveloper(trx, actor.developerId, appId);
    const { redeemed_by: from, ...license } = assertRedeemed(
      await store.findLicenseById(trx, appId, licenseId),
    );
    const { userId: to } = await holders.find(trx, appId, username);
    if (from === to) throw new ApiError('LICENSE_ALREADY_HELD');
    // Users before licences, as a redemption does.
    await lockUsers(trx, [from, to]);
    // He may have been deleted while he was waited for.
    if ((await holders.find(trx, appId, username)).userId !== to) throw new Moved();
    const locked = assertRedeemed(await store.lockLicenseById(trx, appId, licenseId));
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
    throw new ApiError('LICENSE_STATE_CONFLICT', { detail: `The licence is ${status}.` });
  }
  if (redeemed_by === null) throw new ApiError('LICENSE_NOTHING_LEFT');
  return { ...row, redeemed_by };
}
