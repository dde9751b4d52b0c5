import type { Knex } from 'knex';
import type { ApplicationKey, ApplicationKeys } from '../application-keys/application-keys.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Events } from '../../foundation/events/events.ts';
import { required } from './application.ts';
import * as store from './application-store.ts';

/** What developers do with the signing keys of their applications. */
export interface SigningKeyManagement {
  /** All keys of an application, the oldest first. @throws ApiError APPLICATION_NOT_FOUND */
  signingKeysOf(developerId: string, appId: string): Promise<readonly ApplicationKey[]>;
  /**
   * Makes the next key the signing key, on all nodes when this returns, and creates another next key.
   * @param force rotates also before programs have had the time to pin the next key
   * @throws ApiError APPLICATION_NOT_FOUND, NEXT_KEY_TOO_YOUNG
   */
  rotateSigningKeys(actor: Actor, appId: string, force: boolean): Promise<readonly ApplicationKey[]>;
  /**
   * Deletes the private part of a key that does not sign responses.
   * @throws ApiError APPLICATION_NOT_FOUND, APPLICATION_KEY_NOT_FOUND, APPLICATION_KEY_IN_USE
   */
  retireSigningKey(actor: Actor, appId: string, kid: string): Promise<readonly ApplicationKey[]>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applicationKeys: Pick<ApplicationKeys, 'list' | 'rotate' | 'retire'>;
  readonly events: Events;
}

export function createSigningKeyManagement({
  knex,
  applicationKeys,
  events,
}: Dependencies): SigningKeyManagement {
  return {
    async signingKeysOf(developerId, appId) {
      await required(store.findApplicationOfDeveloper(knex, developerId, appId));
      return applicationKeys.list(knex, appId);
    },

    async rotateSigningKeys(actor, appId, force) {
      return knex.transaction(async (trx) => {
        await required(store.lockApplicationOfDeveloperForUpdate(trx, actor.developerId, appId));
        const keys = await applicationKeys.rotate(trx, appId, force);
        const data = { kid: keys.find(({ state }) => state === 'signing')!.kid, forced: force };
        await events.record(trx, { type: 'application.signing_key_rotated', appId, data, actor });
        return keys;
      });
    },

    async retireSigningKey(actor, appId, kid) {
      return knex.transaction(async (trx) => {
        await required(store.lockApplicationOfDeveloperForUpdate(trx, actor.developerId, appId));
        const keys = await applicationKeys.retire(trx, appId, kid);
        await events.record(trx, { type: 'application.signing_key_retired', appId, data: { kid }, actor });
        return keys;
      });
    },
  };
}
