import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { required } from './application.ts';
import { secretContext, type ApplicationSecrets } from './application-secrets.ts';
import { isTakenUntil } from './application-state.ts';
import * as store from './application-store.ts';

const CLEARED_AT_ONCE = 1000;

/** Shows and rotates the secrets of applications, and encrypts them under a new master key. */
export interface SecretManagement {
  /** The current secret, as it was shown to the developer. @throws ApiError APPLICATION_NOT_FOUND */
  secretOf(developerId: string, appId: string): Promise<string>;
  /**
   * Gives an application a new secret. Every request reads from the database which secrets are valid: when
   * this returns, all nodes accept the new secret and reject a removed one.
   * @param overlapSeconds how long the current secret stays valid; one from an earlier rotation ends
   *   immediately
   * @returns the new secret, which is shown once
   * @throws ApiError APPLICATION_NOT_FOUND
   */
  rotateSecret(
    actor: Actor,
    appId: string,
    overlapSeconds: number,
  ): Promise<{ readonly secret: string; readonly previousSecretUntil: Date | null }>;
  /**
   * Ends the overlap of the last rotation.
   * @throws ApiError APPLICATION_NOT_FOUND, PREVIOUS_SECRET_NOT_FOUND
   */
  endSecretOverlap(actor: Actor, appId: string): Promise<void>;
  /** Deletes some secrets whose overlap has ended. @returns how many */
  clearPreviousSecrets(): Promise<number>;
  /** Encrypts some secrets under the current master key. @returns how many */
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly events: Events;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly secrets: ApplicationSecrets;
}

export function createSecretManagement(deps: Dependencies): SecretManagement {
  const { knex, events, keyring, clock, secrets } = deps;

  return {
    async secretOf(developerId, appId) {
      const row = await required(store.findApplicationOfDeveloper(knex, developerId, appId));
      return secrets.open(row).toString();
    },

    async rotateSecret(actor, appId, overlapSeconds) {
      const secret = secrets.make();
      const previousSecretUntil = await knex.transaction(async (trx) => {
        await required(store.lockApplicationOfDeveloperForUpdate(trx, actor.developerId, appId));
        const now = clock.now();
        const until = overlapSeconds === 0 ? null : new Date(now.getTime() + overlapSeconds * 1000);
        await store.replaceSecret(trx, appId, secrets.seal(appId, secret), until, now);
        const data = { overlap_seconds: overlapSeconds, previous_secret_until: until?.toISOString() ?? null };
        await events.record(trx, { type: 'application.secret_rotated', appId, data, actor });
        return until;
      });
      return { secret, previousSecretUntil };
    },

    async endSecretOverlap(actor, appId) {
      await knex.transaction(async (trx) => {
        const row = await required(store.lockApplicationOfDeveloperForUpdate(trx, actor.developerId, appId));
        const now = clock.now();
        if (!isTakenUntil(row.previous_secret_until, now)) throw new ApiError('PREVIOUS_SECRET_NOT_FOUND');
        await store.updateApplication(trx, appId, {
          previous_secret_sealed: null,
          previous_secret_until: null,
          updated_at: now,
        });
        await events.record(trx, { type: 'application.secret_overlap_ended', appId, actor });
      });
    },

    clearPreviousSecrets: () => store.clearPreviousSecrets(knex, clock.now(), CLEARED_AT_ONCE),

    reseal: store.createSecretResealer(knex, keyring, secretContext),
  };
}
