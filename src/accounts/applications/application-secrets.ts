import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Random } from '../../platform/random.ts';
import { isTakenUntil } from './application-state.ts';
import type { ApplicationRow } from './application-store.ts';

/** Whether a secret is the right one, in constant time. */
export type SecretProof = (secret: Buffer) => boolean;

/** The secrets of applications: encrypted at rest, decrypted only while a request needs them. */
export interface ApplicationSecrets {
  /** 256 random bits after a prefix that secret scanners recognize. */
  make(): string;
  seal(appId: string, secret: string): Buffer;
  /** The current secret, as it was shown to the developer. */
  open(row: ApplicationRow): Buffer;
  /**
   * Finds the secret that a proof accepts: the current one, or during an overlap the previous one. Two
   * secrets are always decrypted and tried, so that the response time reveals neither a missing application
   * nor an overlap.
   * @throws ApiError INVALID_APP_CREDENTIALS
   */
  find<Row extends ApplicationRow>(
    row: Row | undefined,
    proves: SecretProof,
  ): { readonly row: Row; readonly secret: Buffer };
}

interface Dependencies {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
}

export function createApplicationSecrets({ keyring, clock, random }: Dependencies): ApplicationSecrets {
  const make = () => `sk_${random.bytes(32).toString('base64url')}`;
  const decoy = keyring.seal(Buffer.from(make()), DECOY_CONTEXT);

  return {
    make,
    seal: (appId, secret) => keyring.seal(Buffer.from(secret), secretContext(appId)),
    open: (row) => keyring.open(row.secret_sealed, secretContext(row.app_id)),

    find(row, proves) {
      const context = row ? secretContext(row.app_id) : DECOY_CONTEXT;
      const current = keyring.open(row?.secret_sealed ?? decoy, context);
      const sealed =
        row && isTakenUntil(row.previous_secret_until, clock.now()) ? row.previous_secret_sealed : null;
      const previous = keyring.open(sealed ?? decoy, sealed ? context : DECOY_CONTEXT);
      const [byCurrent, byPrevious] = [proves(current), proves(previous)];
      if (row && byCurrent) return { row, secret: current };
      if (row && sealed && byPrevious) return { row, secret: previous };
      throw new ApiError('INVALID_APP_CREDENTIALS');
    },
  };
}

const DECOY_CONTEXT = 'application-secret:decoy';

/** The context under which an application's secrets are encrypted. */
export function secretContext(appId: string): string {
  return `application-secret:${appId}`;
}
