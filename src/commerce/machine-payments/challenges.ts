import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import {
  createChallenge,
  METHOD,
  readCardPayload,
  readCredential,
  serializeChallenge,
  verifyChallenge,
  type CardPayload,
  type Terms,
} from './challenge.ts';

/** 0.001 USDC. */
const TERMS: Terms = {
  amount: '1000',
  currency: 'USDC',
  description: 'Access to the Latchkey API for one agent, for 15 minutes.',
};
const BASE_UNITS = 1_000_000;

/** The content of a `Payment` credential; undefined when it is not JSON. */
export interface SentCredential {
  readonly credential: unknown;
}

/** A credential that responds to a challenge of this service. */
export interface VerifiedCredential extends CardPayload {
  readonly challengeId: string;
  readonly terms: Terms;
  readonly expiresAt: Date;
}

/** Issues challenges, and verifies the credentials that respond to them. */
export interface Challenges {
  /** The members of an error that requires a payment: a new challenge and its terms. */
  next(detail?: string): {
    readonly challenge: string;
    readonly members: Readonly<Record<string, string | number>>;
    readonly detail?: string;
  };
  /**
   * Checks everything about a credential that needs no database.
   * @throws ApiError MALFORMED_CREDENTIAL, METHOD_UNSUPPORTED, INVALID_CHALLENGE
   */
  verify(sent: SentCredential): VerifiedCredential;
}

interface Dependencies {
  /** The audience of payment tokens; undefined where no payment can be taken. */
  readonly networkId: string | undefined;
  readonly keys: Pick<Keys, 'challengeDigest'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly baseUrl: () => string;
}

export function createChallenges({ networkId, keys, clock, random, baseUrl }: Dependencies): Challenges {
  const digest = keys.challengeDigest;

  const next: Challenges['next'] = (detail) => {
    const context = {
      realm: new URL(baseUrl()).host,
      networkId: networkId ?? 'none',
      now: clock.now(),
      nonce: random.bytes(16),
    };
    const { currency, description } = TERMS;
    return {
      challenge: serializeChallenge(createChallenge(TERMS, context, digest)),
      members: { amount: amountOf(TERMS), currency, description },
      ...(detail !== undefined && { detail }),
    };
  };

  return {
    next,

    verify(sent) {
      const credential = readCredential(sent.credential);
      if (!credential) throw new ApiError('MALFORMED_CREDENTIAL', next());
      const { challenge } = credential;
      if (challenge.method !== METHOD) throw new ApiError('METHOD_UNSUPPORTED');
      const issued = verifyChallenge(challenge, digest);
      if (!issued) {
        const detail = 'The challenge was not issued by this service, or was altered.';
        throw new ApiError('INVALID_CHALLENGE', next(detail));
      }
      const payload = readCardPayload(credential.payload);
      if (!payload) throw new ApiError('MALFORMED_CREDENTIAL', next('The payload has no valid spt.'));
      return { challengeId: challenge.id, ...issued, ...payload };
    },
  };
}

/** The amount in units of the currency. */
export function amountOf({ amount }: Terms): number {
  return Number(amount) / BASE_UNITS;
}
