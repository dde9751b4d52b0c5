import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Limits } from '../../foundation/limits/limits.ts';
import { addressBlock, type Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import { isSameSecret } from '../../platform/constant-time.ts';
import type { NewId } from '../../platform/ids.ts';
import {
  PaymentsError,
  PaymentsUnavailableError,
  type Charge,
  type PaymentProcessor,
} from '../../platform/payments/index.ts';
import type { Random } from '../../platform/random.ts';
import { tokenDigest, type Tokens } from '../../foundation/tokens/tokens.ts';
import { serializeReceipt } from './challenge.ts';
import { amountOf, createChallenges, type SentCredential, type VerifiedCredential } from './challenges.ts';
import * as store from './machine-payment-store.ts';

export type { SentCredential } from './challenges.ts';

/** How long access lasts. */
const ACCESS_MS = 15 * 60 * 1000;
/** How long payments are kept, and used challenges with them. */
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;
const RETRY_AFTER_S = 5;

/** The scopes of every agent that has paid. */
const SCOPES = ['agent:execute'] as const;

/** The access that was bought. */
export interface Access {
  readonly token: string;
  readonly expiresInSeconds: number;
  readonly expiresAt: Date;
  readonly scopes: typeof SCOPES;
  readonly payment: { readonly amount: number; readonly currency: string; readonly reference: string };
  /** The value of `Payment-Receipt`. */
  readonly receipt: string;
}

/** The agent behind a live token. */
export interface AgentIdentity {
  /** The payment that bought the token. */
  readonly reference: string;
  readonly scopes: typeof SCOPES;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Access that machines pay for themselves, one challenge per payment: MPP, the HTTP authentication scheme
 * `Payment`.
 */
export interface MachinePayments {
  /** Requires a payment, with a new challenge. @throws ApiError PAYMENT_REQUIRED */
  requirePayment(): never;
  /**
   * Accepts a payment and grants access for it, once. A client that gets no response can send the credential
   * again: it is not charged twice. A challenge that was settled or declined is used up.
   * @param sent undefined without a credential
   * @throws ApiError PAYMENT_REQUIRED, MALFORMED_CREDENTIAL, METHOD_UNSUPPORTED, INVALID_CHALLENGE,
   *   PAYMENT_EXPIRED, VERIFICATION_FAILED; TOO_MANY_REQUESTS when too many payments of the client were
   *   declined; SERVICE_UNAVAILABLE while the processor is unavailable: the challenge can still be paid
   */
  buyAccess(sent: SentCredential | undefined, client: Client): Promise<Access>;
  /** The agent behind a token; undefined when the token is unknown or expired. */
  authenticate(token: string): Promise<AgentIdentity | undefined>;
  /** Deletes a batch of expired tokens, and of payments older than 30 days. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly payments: Pick<PaymentProcessor, 'charge'>;
  /** The audience of payment tokens; undefined where no payment can be taken. */
  readonly networkId: string | undefined;
  readonly keys: Keys;
  readonly tokens: Tokens;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly baseUrl: () => string;
}

export function createMachinePayments(deps: Dependencies): MachinePayments {
  const { knex, payments, networkId, tokens, limits, clock, newId } = deps;
  const challenges = createChallenges(deps);

  async function claim({
    challengeId,
    terms,
    expiresAt,
    spt,
  }: VerifiedCredential): Promise<store.MachinePaymentRow> {
    const now = clock.now();
    // A client that claimed the challenge in time may have been charged: it gets access, however late.
    const claimed =
      expiresAt <= now
        ? await store.findClaim(knex, challengeId)
        : await store.claimChallenge(knex, {
            challenge_id: challengeId,
            reference: newId('pay'),
            amount: Number(terms.amount),
            currency: terms.currency,
            spt_digest: tokenDigest(spt),
            created_at: now,
          });
    if (!claimed) throw new ApiError('PAYMENT_EXPIRED', challenges.next());
    if (claimed.state !== 'claimed' || !isSameSecret(claimed.spt_digest, tokenDigest(spt))) throw used();
    return claimed;
  }

  const used = () => new ApiError('INVALID_CHALLENGE', challenges.next('The challenge is already used.'));

  async function charge(
    { challengeId, terms, spt }: VerifiedCredential,
    declined: () => Promise<void>,
  ): Promise<Charge> {
    try {
      return await payments.charge({ key: challengeId, token: spt, ...terms });
    } catch (cause) {
      if (cause instanceof PaymentsUnavailableError) {
        const detail =
          'The payment processor is unavailable right now. You can send the same credential again.';
        throw new ApiError('SERVICE_UNAVAILABLE', { detail, retryAfter: RETRY_AFTER_S, cause });
      }
      if (!(cause instanceof PaymentsError)) throw cause;
      await declined();
      throw new ApiError('VERIFICATION_FAILED', { ...challenges.next(), cause });
    }
  }

  function requirePayment(): never {
    throw new ApiError('PAYMENT_REQUIRED', challenges.next());
  }

  return {
    requirePayment,

    async buyAccess(sent, { address }) {
      if (!sent) return requirePayment();
      const verified = challenges.verify(sent);
      const { challengeId, terms, externalId } = verified;
      if (networkId === undefined) {
        throw new ApiError('VERIFICATION_FAILED', challenges.next('Machine payments are not set up here.'));
      }
      const payer = ['machine payments', addressBlock(address)];
      await limits.assertAttemptAllowed([payer]);
      const { reference } = await claim(verified);
      const { paymentRef, paidAt } = await charge(verified, async () => {
        await store.declineClaim(knex, challengeId);
        await limits.countFailure([payer]);
      });

      const issuedAt = clock.now();
      const expiresAt = new Date(issuedAt.getTime() + ACCESS_MS);
      const token = await tokens.signAccessToken({
        subject: reference,
        clientId: reference,
        scopes: SCOPES,
        issuedAt,
        expiresAt,
      });
      const settled = await store.settleClaim(knex, challengeId, {
        payment_ref: paymentRef,
        token_digest: tokenDigest(token),
        expires_at: expiresAt,
      });
      if (!settled) throw used();
      return {
        token,
        expiresInSeconds: ACCESS_MS / 1000,
        expiresAt,
        scopes: SCOPES,
        payment: { amount: amountOf(terms), currency: terms.currency, reference },
        receipt: serializeReceipt({ reference, paidAt, externalId }),
      };
    },

    async authenticate(token) {
      const found = await store.findAgentToken(knex, tokenDigest(token));
      if (!found?.expires_at || found.expires_at <= clock.now()) return undefined;
      const { reference, expires_at: expiresAt } = found;
      return { reference, scopes: SCOPES, issuedAt: new Date(expiresAt.getTime() - ACCESS_MS), expiresAt };
    },

    async clearExpired() {
      const now = clock.now();
      const longAgo = new Date(now.getTime() - REMEMBERED_MS);
      return (
        (await store.clearExpiredTokens(knex, now, CLEARED_AT_ONCE)) +
        (await store.clearOldPayments(knex, longAgo, CLEARED_AT_ONCE))
      );
    },
  };
}
