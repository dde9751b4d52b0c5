import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import type { Keys } from '../keys/keys.ts';
import type { Limits } from '../limits/limits.ts';
import { addressBlock, type Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import { isSameSecret } from '../platform/constant-time.ts';
import type { NewId } from '../platform/ids.ts';
import {
  PaymentsError,
  PaymentsUnavailableError,
  type Charge,
  type Payments,
} from '../platform/payments/index.ts';
import type { Random } from '../platform/random.ts';
import { tokenDigest, type Tokens } from '../tokens/tokens.ts';
import {
  createChallenge,
  METHOD,
  readCardPayload,
  readCredential,
  serialiseChallenge,
  serialiseReceipt,
  verifyChallenge,
  type Terms,
} from './challenge.ts';
import * as store from './machine-payment-store.ts';

/** An agent's access lives 15 minutes. */
const ACCESS_MS = 15 * 60 * 1000;
/** How long it is remembered that a challenge was used. */
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;
const RETRY_AFTER_S = 5;

/** 0.001 USDC. */
const TERMS: Terms = {
  amount: '1000',
  currency: 'USDC',
  description: 'Access to the Latchkey API for one agent, for 15 minutes.',
};
const BASE_UNITS = 1_000_000;

/** What every agent that has paid may do. */
const SCOPES = ['agent:execute'] as const;

/** What a `Payment` credential holds; undefined where it is no JSON. */
export interface SentCredential {
  readonly credential: unknown;
}

/** What was bought. */
export interface Access {
  readonly token: string;
  readonly expiresInSeconds: number;
  readonly expiresAt: Date;
  readonly scopes: typeof SCOPES;
  readonly payment: { readonly amount: number; readonly currency: string; readonly reference: string };
  /** For the `Payment-Receipt`. */
  readonly receipt: string;
}

/** What a live token stands for. */
export interface AgentIdentity {
  /** The payment that it was bought with. */
  readonly reference: string;
  readonly scopes: typeof SCOPES;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** Access that machines pay for by themselves, one challenge a payment: MPP, the HTTP authentication scheme `Payment`. */
export interface MachinePayments {
  /** Asks for a payment, with a challenge that nobody has got before. @throws ApiError PAYMENT_REQUIRED */
  requirePayment(): never;
  /**
   * Takes a payment and gives access for it, once. What failed on the way to its answer can be sent again: it is charged no
   * second time. A challenge that was answered or declined is used up.
   * @param sent undefined without a credential
   * @throws ApiError PAYMENT_REQUIRED, MALFORMED_CREDENTIAL, METHOD_UNSUPPORTED, INVALID_CHALLENGE, PAYMENT_EXPIRED,
   *   VERIFICATION_FAILED; TOO_MANY_REQUESTS when too many payments from there were declined; SERVICE_UNAVAILABLE while
   *   the processor cannot be used: the challenge can still be paid
   */
  buyAccess(sent: SentCredential | undefined, client: Client): Promise<Access>;
  /** Whom a token stands for now; undefined when it is nobody's. */
  authenticate(token: string): Promise<AgentIdentity | undefined>;
  /** Forgets some expired tokens, and payments that are older than 30 days. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly payments: Pick<Payments, 'charge'>;
  /** Whom payment tokens must be made out to; undefined where no payment can be taken. */
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
  const { knex, payments, networkId, keys, tokens, limits, clock, random, newId, baseUrl } = deps;
  const digest = keys.challengeDigest;

  /** What goes with every refusal: another challenge to pay. */
  function anew(detail?: string) {
    const challenge = createChallenge(
      TERMS,
      {
        realm: new URL(baseUrl()).host,
        networkId: networkId ?? 'none',
        now: clock.now(),
        nonce: random.bytes(16),
      },
      digest,
    );
    const { currency, description } = TERMS;
    return {
      challenge: serialiseChallenge(challenge),
      members: { amount: Number(TERMS.amount) / BASE_UNITS, currency, description },
      ...(detail !== undefined && { detail }),
    };
  }

  /** Everything that can be said about a credential without the database. */
  function verify(sent: SentCredential) {
    const credential = readCredential(sent.credential);
    if (!credential) throw new ApiError('MALFORMED_CREDENTIAL', anew());
    const { challenge } = credential;
    if (challenge.method !== METHOD) throw new ApiError('METHOD_UNSUPPORTED');
    const issued = verifyChallenge(challenge, digest);
    if (!issued) {
      throw new ApiError(
        'INVALID_CHALLENGE',
        anew('The challenge is not one of this service, or was altered.'),
      );
    }
    const payload = readCardPayload(credential.payload);
    if (!payload)
      throw new ApiError('MALFORMED_CREDENTIAL', anew('The payload has no spt that can be read.'));
    return { challengeId: challenge.id, ...issued, ...payload };
  }
  type Verified = ReturnType<typeof verify>;

  async function claim({ challengeId, terms, expiresAt, spt }: Verified): Promise<store.MachinePaymentRow> {
    const now = clock.now();
    // Whoever has claimed it in time may have been charged: he gets what he paid for, however late.
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
    if (!claimed) throw new ApiError('PAYMENT_EXPIRED', anew());
    if (claimed.state !== 'claimed' || !isSameSecret(claimed.spt_digest, tokenDigest(spt))) throw used();
    return claimed;
  }

  const used = () => new ApiError('INVALID_CHALLENGE', anew('The challenge is already used.'));

  async function charge(
    { challengeId, terms, spt }: Verified,
    declined: () => Promise<void>,
  ): Promise<Charge> {
    try {
      return await payments.charge({ key: challengeId, token: spt, ...terms });
    } catch (cause) {
      if (cause instanceof PaymentsUnavailableError) {
        const detail =
          'The payment processor cannot be used just now. The same credential can be sent again.';
        throw new ApiError('SERVICE_UNAVAILABLE', { detail, retryAfter: RETRY_AFTER_S, cause });
      }
      if (!(cause instanceof PaymentsError)) throw cause;
      await declined();
      throw new ApiError('VERIFICATION_FAILED', { ...anew(), cause });
    }
  }

  function requirePayment(): never {
    throw new ApiError('PAYMENT_REQUIRED', anew());
  }

  return {
    requirePayment,

    async buyAccess(sent, { address }) {
      if (!sent) return requirePayment();
      const verified = verify(sent);
      const { challengeId, terms, externalId } = verified;
      if (networkId === undefined) {
        throw new ApiError('VERIFICATION_FAILED', anew('Machine payments are not set up here.'));
      }
      const payer = ['machine payments', addressBlock(address)];
      await limits.assertMayTry([payer]);
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
        payment: { amount: Number(terms.amount) / BASE_UNITS, currency: terms.currency, reference },
        receipt: serialiseReceipt({ reference, paidAt, externalId }),
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
