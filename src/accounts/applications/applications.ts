import type { Knex } from 'knex';
import type { ApplicationKeys } from '../application-keys/application-keys.ts';
import type { Developers } from '../developers/developers.ts';
import type { Events } from '../../foundation/events/events.ts';
import { toCount, type Count } from '../../platform/database/bounded-count.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Random } from '../../platform/random.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import {
  createApplicationAuthentication,
  type ApplicationAuthentication,
} from './application-authentication.ts';
import { toApplication, type Application } from './application.ts';
import { createApplicationLocks, type ApplicationLocks } from './application-locks.ts';
import { createApplicationManagement, type ApplicationManagement } from './application-management.ts';
import { createApplicationSecrets } from './application-secrets.ts';
import { createApplicationSuspensions, type ApplicationSuspensions } from './application-suspensions.ts';
import * as store from './application-store.ts';
import { createSecretManagement, type SecretManagement } from './secret-management.ts';
import { createSigningKeyManagement, type SigningKeyManagement } from './signing-key-management.ts';
import { createUserSeats, type UserSeats } from './user-seats.ts';

export type { Application, OwnApplication } from './application.ts';
export type { Handshake } from './application-authentication.ts';

/** Applications: what developers do with them, and what their programs and users do. */
export interface Applications
  extends
    ApplicationAuthentication,
    ApplicationLocks,
    ApplicationManagement,
    ApplicationSuspensions,
    SecretManagement,
    SigningKeyManagement,
    UserSeats {
  /** Records whether machines or networks are banned, inside the caller's transaction. */
  setHasClientBans(trx: Knex.Transaction, appId: string, hasClientBans: boolean): Promise<void>;
  /** How many applications there are, with those whose data is being deleted; an estimate above 10,000. */
  count(): Promise<Count>;
  /** The ids of a developer's applications, in any order. */
  idsOfDeveloper(db: Knex, developerId: string): Promise<string[]>;
  /** The same with those that were deleted and whose data still exists. */
  idsWithDeleted(developerId: string): Promise<string[]>;
  /** The developer of an application, deleted or not; undefined when there is no such application. */
  ownerOf(appId: string): Promise<string | undefined>;
  /** The applications of a developer among some ids, by id. */
  findOfDeveloper(
    db: Knex,
    developerId: string,
    appIds: readonly string[],
  ): Promise<Map<string, Application>>;
  /** The application that was deleted first, of those whose rows still exist. @param except ids to skip */
  nextDeleted(except?: readonly string[]): Promise<string | undefined>;
  /** Deletes the last row of a deleted application. */
  forget(appId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<
    Developers,
    'takeApplicationSeat' | 'returnApplicationSeat' | 'planLimitsOf' | 'lockSuspensionForShare'
  >;
  readonly applicationKeys: ApplicationKeys;
  readonly events: Events;
  readonly vpn: Vpn;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

export function createApplications(deps: Dependencies): Applications {
  const { knex } = deps;
  const parts = { ...deps, secrets: createApplicationSecrets(deps) };
  return {
    ...createApplicationAuthentication(parts),
    ...createApplicationLocks(parts),
    ...createApplicationManagement(parts),
    ...createApplicationSuspensions(parts),
    ...createSecretManagement(parts),
    ...createSigningKeyManagement(parts),
    ...createUserSeats(parts),
    setHasClientBans: (trx, appId, hasClientBans) =>
      store.updateApplication(trx, appId, { has_client_bans: hasClientBans }),
    count: async () => toCount(await store.countRows(knex)),
    idsOfDeveloper: store.listApplicationIds,
    idsWithDeleted: (developerId) => store.listIdsWithDeleted(knex, developerId),
    ownerOf: (appId) => store.findOwner(knex, appId),
    async findOfDeveloper(db, developerId, appIds) {
      const rows = await store.findApplicationsOfDeveloper(db, developerId, appIds);
      return new Map(rows.map((row) => [row.app_id, toApplication(row)]));
    },
    nextDeleted: (except = []) => store.findDeletedApplication(knex, except),
    forget: (appId) => store.forgetApplication(knex, appId),
  };
}
