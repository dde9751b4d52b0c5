import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import type { PreparedSession, Sessions } from '../sessions/sessions.ts';
import type { LoginQueue } from './login-queue.ts';
import { assertOpen, createSessionOpening } from './session-opening.ts';
import * as store from './user-store.ts';

/** Renews sessions that are bound to devices. */
export interface Renewals {
  /**
   * Opens a new session of the same user on the same device, without the password.
   * @param renewal.token the token or the id of a session that is live, or has expired within the last 7 days
   * @param trust of the request, which the device of the session has signed
   * @throws ApiError those of a login; SESSION_INVALID, SESSION_EXPIRED, DEVICE_SIGNATURE_INVALID, DEVICE_MISMATCH
   */
  renew(
    renewal: { readonly appId: string; readonly token: string; readonly version?: string | undefined },
    client: Client,
    trust: ClientTrust | undefined,
  ): Promise<PreparedSession>;
}

type Dependencies = Parameters<typeof createSessionOpening>[0] & {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly sessions: Sessions;
  readonly loginQueue: LoginQueue;
};

export function createRenewals(deps: Dependencies): Renewals {
  const { knex, applications, sessions, loginQueue: queue } = deps;
  const opening = createSessionOpening(deps);

  return {
    async renew({ appId, token, version = null }, client, trust) {
      assertOpen(await applications.usable(appId, trust));
      const renewed = await sessions.findRenewable(appId, token, trust);
      const { userId } = renewed;
      const { deviceId, hwidDigest } = trust!.device!;
      queue.assertCapacity(userId);
      const session = await sessions.prepare(appId, userId, 'encrypted');
      await queue.run(userId, () =>
        knex.transaction(async (trx) => {
          const application = await opening.lockOpenForShare(trx, appId);
          const user = await store.lockUserForUpdate(trx, userId);
          // Without a machine, the user has reset it.
          if (!user?.hwid_digest) throw new ApiError('SESSION_INVALID');
          await sessions.endRenewed(trx, renewed);
          // The name of the machine was checked when the device was registered.
          const origin = { hwid: deviceId, hwidDigest: hwidDigest!, version, client, deviceId };
          await opening.begin(trx, application, user, origin, session);
        }),
      );
      return session;
    },
  };
}
