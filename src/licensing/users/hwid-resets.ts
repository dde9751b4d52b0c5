import type { Knex } from 'knex';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import type { Bans } from '../bans/bans.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Passwords } from '../../foundation/passwords/passwords.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import type { Credentials } from './credentials.ts';
import { nextReset } from './hwid-reset-state.ts';
import * as store from './user-store.ts';

export interface HwidReset {
  /** When the user can reset the machine again. */
  readonly nextResetAt: Date;
}

export interface HwidResets {
  /**
   * Unbinds a user from the machine at the user's request, at most once in 7 days, and ends the user's sessions.
   * @throws ApiError APPLICATION_INACTIVE, VPN_BLOCKED, ADDRESS_BANNED, TOO_MANY_REQUESTS, INVALID_CREDENTIALS; after
   *   the password was verified USER_BANNED, HWID_BANNED, HWID_RESET_TOO_SOON
   */
  byUser(
    application: Application,
    credentials: { readonly username: string; readonly password: string },
    client: Client,
  ): Promise<HwidReset>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly events: Events;
  readonly sessions: Sessions;
  readonly passwords: Pick<Passwords, 'assertCapacity'>;
  readonly credentials: Credentials;
  readonly bans: Bans;
  readonly vpn: Vpn;
  readonly clock: Clock;
}

export function createHwidResets(deps: Dependencies): HwidResets {
  const { knex, applications, events, sessions, passwords, credentials, bans, vpn, clock } = deps;

  return {
    async byUser(application, { username, password }, client) {
      const { appId } = application;
      if (application.status === 'disabled') throw new ApiError('APPLICATION_INACTIVE');
      passwords.assertCapacity();
      vpn.assertNone(application, client);
      await bans.assertNone(knex, appId, { address: client.address });
      const user = await credentials.check(appId, { username, password }, { client });
      return knex.transaction(async (trx) => {
        const current = await applications.lockForShare(trx, appId);
        const held = await credentials.lockForUpdate(trx, user);
        vpn.assertNone(current, client);
        await bans.assertNone(trx, appId, {
          userId: held.user_id,
          hwidDigests: held.hwid_digest ? [held.hwid_digest] : [],
          address: client.address,
        });
        const now = clock.now();
        assertDue(held.hwid_reset_at, now);
        if (!held.hwid_digest) return { nextResetAt: now };
        await store.unbindHwid(trx, held.user_id, now);
        await events.record(trx, { type: 'user.hwid_reset', appId, userId: held.user_id });
        await sessions.endAllOf(trx, appId, held.user_id, 'hwid_reset');
        return { nextResetAt: nextReset(now) };
      });
    },
  };
}

/** @throws ApiError HWID_RESET_TOO_SOON */
function assertDue(lastReset: Date | null, now: Date): void {
  const due = lastReset && nextReset(lastReset);
  if (!due || due <= now) return;
  const retryAfter = Math.ceil((due.getTime() - now.getTime()) / 1000);
  throw new ApiError('HWID_RESET_TOO_SOON', {
    detail: `The machine can be reset again at ${due.toISOString()}.`,
    retryAfter,
    members: { retry_after: retryAfter },
  });
}
