import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../platform/clock.ts';
import {
  assertUsable,
  required,
  toApplication,
  toOwnApplication,
  type Application,
  type OwnApplication,
} from './application.ts';
import * as store from './application-store.ts';

/** An application as it stays until the caller's transaction ends. */
export interface ApplicationHolds {
  /**
   * The application as it is now and stays until the caller's transaction ends: whoever changes, pauses or deletes it
   * comes before or after the transaction, never in between.
   * @throws ApiError INVALID_APP_CREDENTIALS when it was deleted, APPLICATION_INACTIVE
   */
  hold(trx: Knex.Transaction, appId: string): Promise<Application>;
  /** The same for an application of the developer, whatever its status. @throws ApiError APPLICATION_NOT_FOUND */
  holdOfDeveloper(trx: Knex.Transaction, developerId: string, appId: string): Promise<OwnApplication>;
  /**
   * The same for the end of long work that holds what others wait for while they hold the application, such as users or their names: a change
   * that waits for those others is not waited for.
   * @throws ApiError APPLICATION_NOT_FOUND
   */
  pinOfDeveloper(trx: Knex.Transaction, developerId: string, appId: string): Promise<OwnApplication>;
  /** Holds an application of the developer alone: for what must come before or after every login. @throws ApiError APPLICATION_NOT_FOUND */
  lockOfDeveloper(trx: Knex.Transaction, developerId: string, appId: string): Promise<OwnApplication>;
}

export function createApplicationHolds({ clock }: { readonly clock: Clock }): ApplicationHolds {
  return {
    async hold(trx, appId) {
      return toUsableApplication(await store.holdApplication(trx, appId));
    },

    async holdOfDeveloper(trx, developerId, appId) {
      return toOwnApplication(
        await required(store.holdApplicationOfDeveloper(trx, developerId, appId)),
        clock.now(),
      );
    },

    async pinOfDeveloper(trx, developerId, appId) {
      return toOwnApplication(
        await required(store.pinApplicationOfDeveloper(trx, developerId, appId)),
        clock.now(),
      );
    },

    async lockOfDeveloper(trx, developerId, appId) {
      return toOwnApplication(
        await required(store.lockApplicationOfDeveloper(trx, developerId, appId)),
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
