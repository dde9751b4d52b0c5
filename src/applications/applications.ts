import type { Knex } from 'knex';
import type { Developers } from '../developers/developers.ts';
import type { Events } from '../events/events.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Random } from '../platform/random.ts';
import type { Vpn } from '../vpn/vpn.ts';
import {
  createApplicationAuthentication,
  type ApplicationAuthentication,
} from './application-authentication.ts';
import { createApplicationHolds, type ApplicationHolds } from './application-holds.ts';
import { createApplicationManagement, type ApplicationManagement } from './application-management.ts';
import { createApplicationSecrets } from './application-secrets.ts';
import * as store from './application-store.ts';
import { createSecretManagement, type SecretManagement } from './secret-management.ts';
import { userSeats, type UserSeats } from './user-seats.ts';

export type { Application, OwnApplication } from './application.ts';

/** Applications of developers: what developers do with them, and what their programs and users do. */
export interface Applications
  extends ApplicationAuthentication, ApplicationHolds, ApplicationManagement, SecretManagement, UserSeats {
  /** Says whether machines or networks are banned, inside the caller's transaction. */
  noteClientBans(trx: Knex.Transaction, appId: string, hasClientBans: boolean): Promise<void>;
  /** The application that was deleted first, of those whose rows are still there. @param except those that are left out */
  nextDeleted(except?: readonly string[]): Promise<string | undefined>;
  /** Deletes the last row of a deleted application. */
  forget(appId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'takeApplicationSeat' | 'returnApplicationSeat'>;
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
    ...createApplicationHolds(parts),
    ...createApplicationManagement(parts),
    ...createSecretManagement(parts),
    ...userSeats,
    noteClientBans: (trx, appId, hasClientBans) =>
      store.updateApplication(trx, appId, { has_client_bans: hasClientBans }),
    nextDeleted: (except = []) => store.findDeletedApplication(knex, except),
    forget: (appId) => store.forgetApplication(knex, appId),
  };
}
