import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  assertUsable,
  required,
  toApplication,
  toOwnApplication,
  type Application,
  type OwnApplication,
} from './application.ts';
import * as store from './application-store.ts';

/**
 * Locks on applications until the caller's transaction ends. A lock for share keeps changes of the
 * application out; a lock for update also keeps out everything that locks it for share, such as logins.
 */
export interface ApplicationLocks {
  /**
   * Locks an application for share. A change, pause or deletion comes before or after the caller's
   * transaction, never in between.
   * @throws ApiError INVALID_APP_CREDENTIALS when it was deleted, APPLICATION_INACTIVE
   */
  lockForShare(trx: Knex.Transaction, appId: string): Promise<Application>;
  /** The same for an application of the developer in any status. @throws ApiError APPLICATION_NOT_FOUND */
  lockOfDeveloperForShare(trx: Knex.Transaction, developerId: string, appId: string): Promise<OwnApplication>;
  /**
   * The same by the row alone, for the end of a long transaction that already locks users or their names.
   * Logins wait for those while they share the application, so waiting behind a queued change of the
   * application would be a deadlock.
   * @throws ApiError APPLICATION_NOT_FOUND
   */
  lockRowOfDeveloperForShare(
    trx: Knex.Transaction,
    developerId: string,
    appId: string,
  ): Promise<OwnApplication>;
  /**
   * Locks an application of the developer for update: for changes that must come before or after every login.
   * @throws ApiError APPLICATION_NOT_FOUND
   */
  lockOfDeveloperForUpdate(
    trx: Knex.Transaction,
    developerId: string,
    appId: string,
  ): Promise<OwnApplication>;
}

export function createApplicationLocks({ clock }: { readonly clock: Clock }): ApplicationLocks {
  return {
    async lockForShare(trx, appId) {
      return toUsableApplication(await store.lockApplicationForShare(trx, appId));
    },

    async lockOfDeveloperForShare(trx, developerId, appId) {
      return toOwnApplication(
        await required(store.lockApplicationOfDeveloperForShare(trx, developerId, appId)),
        clock.now(),
      );
    },

    async lockRowOfDeveloperForShare(trx, developerId, appId) {
      return toOwnApplication(
        await required(store.lockApplicationRowForShare(trx, developerId, appId)),
        clock.now(),
      );
    },

    async lockOfDeveloperForUpdate(trx, developerId, appId) {
      return toOwnApplication(
        await required(store.lockApplicationOfDeveloperForUpdate(trx, developerId, appId)),
        clock.now(),
      );
    },
  };
}

function toUsableApplication(row: store.ApplicationRow | undefined): Application {
  if (!row) throw new ApiError('INVALID_APP_CREDENTIALS');
  const application = toApplication(row);
  assertUsable(application);
  return application;
}
