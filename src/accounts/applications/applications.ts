import type { Knex } from 'knex';
import type { Developers } from '../developers/developers.ts';
import type { Events } from '../../foundation/events/events.ts';
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
import * as store from './application-store.ts';
import { createSecretManagement, type SecretManagement } from './secret-management.ts';
import { createUserSeats, type UserSeats } from './user-seats.ts';

export type { Application, OwnApplication } from './application.ts';

/** Applications: what developers do with them, and what their programs and users do. */
export interface Applications
  extends ApplicationAuthentication, ApplicationLocks, ApplicationManagement, SecretManagement, UserSeats {
  /** Records whether machines or networks are banned, inside the caller's transaction. */
  setHasClientBans(trx: Knex.Transaction, appId: string, hasClientBans: boolean): Promise<void>;
  /** The ids of a developer's applications, in any order. */
  idsOfDeveloper(db: Knex, developerId: string): Promise<string[]>;
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
  readonly developers: Pick<Developers, 'takeApplicationSeat' | 'returnApplicationSeat' | 'planLimitsOf'>;
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
    ...createSecretManagement(parts),
    ...createUserSeats(parts),
    setHasClientBans: (trx, appId, hasClientBans) =>
      store.updateApplication(trx, appId, { has_client_bans: hasClientBans }),
    idsOfDeveloper: store.listApplicationIds,
    async findOfDeveloper(db, developerId, appIds) {
      const rows = await store.findApplicationsOfDeveloper(db, developerId, appIds);
      return new Map(rows.map((row) => [row.app_id, toApplication(row)]));
    },
    nextDeleted: (except = []) => store.findDeletedApplication(knex, except),
    forget: (appId) => store.forgetApplication(knex, appId),
  };
}
