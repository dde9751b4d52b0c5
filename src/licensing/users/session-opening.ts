import type { Knex } from 'knex';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Bans } from '../bans/bans.ts';
import type { Devices } from '../devices/devices.ts';
import type { PreparedSession, Sessions } from '../sessions/sessions.ts';
import { subscriptionStanding } from '../subscriptions/subscriptions.ts';
import { assertSameMachine, assertVisible, isSameMachine, type Origin } from './machines.ts';
import * as store from './user-store.ts';

/** The last part of every login and renewal, inside its transaction. */
export interface SessionOpening {
  /** Locks an application that accepts logins. @throws ApiError those of `assertOpen`, INVALID_APP_CREDENTIALS */
  lockOpenForShare(trx: Knex.Transaction, appId: string): Promise<Application>;
  /**
   * Makes all decisions, and opens the session.
   * @param user whose row the transaction has locked
   * @throws ApiError VPN_BLOCKED, USER_BANNED, HWID_BANNED, ADDRESS_BANNED, HWID_MISMATCH, SUBSCRIPTION_EXPIRED,
   *   QUOTA_EXCEEDED, DEVICE_SIGNATURE_INVALID
   */
  begin(
    trx: Knex.Transaction,
    application: Application,
    user: store.UserRow,
    origin: Origin,
    session: PreparedSession,
  ): Promise<void>;
}

interface Dependencies {
  readonly applications: Applications;
  readonly events: Events;
  readonly sessions: Sessions;
  readonly devices: Pick<Devices, 'recordLogin'>;
  readonly bans: Bans;
  readonly vpn: Vpn;
  readonly clock: Clock;
}

export function createSessionOpening(deps: Dependencies): SessionOpening {
  const { applications, events, sessions, devices, bans, vpn, clock } = deps;

  return {
    async lockOpenForShare(trx, appId) {
      const application = await applications.lockForShare(trx, appId);
      assertOpen(application);
      return application;
    },

    async begin(trx, application, user, origin, session) {
      const { hwidDigest, version, client, deviceId } = origin;
      const { appId } = application;
      vpn.assertNone(application, client);
      await bans.assertNone(trx, appId, {
        userId: user.user_id,
        hwidDigests: [hwidDigest],
        address: client.address,
      });
      if (user.hwid_digest === null) {
        assertVisible(origin);
        await store.bindHwid(trx, user.user_id, hwidDigest);
        await events.record(trx, { type: 'user.hwid_bound', appId, userId: user.user_id });
      } else if (application.hwidLock) assertSameMachine(user.hwid_digest, hwidDigest);
      else if (!isSameMachine(user.hwid_digest, hwidDigest)) assertVisible(origin);
      await applications.assertWithinPlan(trx, application, clock.now());
      const standing = await subscriptionStanding(trx, user.user_id, application, clock.now());
      const tier = standing.status === 'active' ? standing.tier : null;
      if (application.requireSubscription && tier === null) throw new ApiError('SUBSCRIPTION_EXPIRED');
      if (deviceId !== null) await devices.recordLogin(trx, appId, deviceId);
      await sessions.begin(trx, application, user.user_id, hwidDigest, session, {
        tier,
        version,
        address: client.address,
        deviceId,
      });
    },
  };
}

/** @throws ApiError APPLICATION_INACTIVE, APPLICATION_PAUSED */
export function assertOpen(application: Application): void {
  if (application.status === 'disabled') throw new ApiError('APPLICATION_INACTIVE');
  if (application.status === 'paused') throw new ApiError('APPLICATION_PAUSED');
}
