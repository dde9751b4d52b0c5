import { hash } from 'node:crypto';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from '../platform/clock.ts';
import { readJwt } from '../platform/jwt-text.ts';
import { isMailAddress } from '../platform/mail/mailbox.ts';
import { FOREIGN_ALGORITHMS } from './foreign-keys.ts';
import type { SubjectOfIssuer, TrustedIssuer } from './issuer-state.ts';
import type { Issuers } from './issuers.ts';

/** How far the clocks of others may be off. */
const SKEW_S = 60;
/** Between `iat` and `exp`: whoever has stolen one should not have it for long. */
const LONGEST_LIFETIME_S = 60 * 60;
/** A security event that is older has been lost on its way. */
const OLDEST_EVENT_S = 24 * 60 * 60;
const LONGEST_TEXT = 1024;

/** Why a token of an issuer is refused, in the words of auth.md where it has one. */
export type AssertionFault =
  | 'invalid_issuer'
  | 'invalid_signature'
  | 'unknown_key'
  | 'expired'
  | 'replay_detected'
  | 'invalid_audience'
  | 'invalid_client_id'
  | 'missing_verified_email'
  | 'invalid_request';

/** A token of an issuer is not accepted. */
export class AssertionError extends Error {
  override name = 'AssertionError';
  readonly fault: AssertionFault;

  /** @param message a sentence that may be shown to whoever has sent the token; nothing of what it says */
  constructor(fault: AssertionFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** How a token is known that may be taken once. */
interface Once {
  /** SHA-256 of what kind of token it is, of its issuer and its `jti`. */
  readonly useDigest: Buffer;
  /** Until when it must be remembered. */
  readonly rememberedUntil: Date;
}

/** An ID-JAG that is as it should be. */
export interface Assertion extends SubjectOfIssuer, Once {
  readonly clientId: string;
  /** Where the issuer has verified it. */
  readonly verifiedEmail: string | undefined;
  /** Undefined where the issuer leaves them to us. */
  readonly scopes: readonly string[] | undefined;
}

/** A security event, or a logout token, that is as it should be. */
export interface IssuerEvent extends SubjectOfIssuer, Once {}

/** Verifies what issuers sign. */
export interface Assertions {
  /**
   * Verifies an Identity Assertion JWT Authorization Grant.
   * @throws AssertionError
   * @throws ApiError SERVICE_UNAVAILABLE while the issuer's keys cannot be had
   */
  verifyGrant(token: string): Promise<Assertion>;
  /**
   * Verifies a Security Event Token (RFC 8417), or a logout token (OpenID Connect Back-Channel Logout).
   * @param events of which it must have one
   * @throws AssertionError
   * @throws ApiError SERVICE_UNAVAILABLE while the issuer's keys cannot be had
   */
  verifyEvent(token: string, kind: 'secevent' | 'logout', events: readonly string[]): Promise<IssuerEvent>;
}

interface Dependencies {
  readonly issuers: Issuers;
  readonly clock: Clock;
  /** Our own, as `aud` must have it. */
  readonly issuer: () => string;
}

export function createAssertions({ issuers, clock, issuer: own }: Dependencies): Assertions {
  function issuerOf(token: string): { readonly issuer: TrustedIssuer; readonly keyId: string } {
    const jwt = readJwt(token);
    if (!jwt) throw new AssertionError('invalid_request', 'It is no JWT in its one form.');
    const { header, payload } = jwt;
    const issuer = typeof payload['iss'] === 'string' ? issuers.find(payload['iss']) : undefined;
    if (!issuer) throw new AssertionError('invalid_issuer', 'Its issuer is not one that is trusted here.');
    const keyId = header['kid'];
    if (typeof keyId !== 'string') throw new AssertionError('unknown_key', 'Its header has no kid.');
    return { issuer, keyId };
  }

  async function verify(token: string, typ: string) {
    const { issuer, keyId } = issuerOf(token);
    const keys = await issuers.keys(issuer, keyId);
    if (!keys.has(keyId)) throw new AssertionError('unknown_key', 'Its key is not one of its issuer.');
    try {
      const { payload } = await jwtVerify(token, keys.find, {
        algorithms: FOREIGN_ALGORITHMS,
        typ,
        issuer: issuer.issuer,
        currentDate: clock.now(),
        clockTolerance: SKEW_S,
      });
      assertAudience(payload);
      return { payload, issuer };
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      // Any other error is one of the key: an issuer may publish what no key can be made of.
      throw toAssertionError(error);
    }
  }

  /** Exactly us: what is made out to others as well could be sent on by them. */
  function assertAudience({ aud }: JWTPayload): void {
    const [only, ...others] = Array.isArray(aud) ? aud : [aud];
    if (only === own() && others.length === 0) return;
    throw new AssertionError('invalid_audience', `Its audience is not ${own()} alone.`);
  }

  const seconds = () => Math.floor(clock.now().getTime() / 1000);

  /** @returns `iat` */
  function issuedAt({ iat }: JWTPayload): number {
    if (iat === undefined) throw new AssertionError('invalid_request', 'It has no iat.');
    if (iat > seconds() + SKEW_S) throw new AssertionError('invalid_request', 'Its iat is in the future.');
    return iat;
  }

  return {
    async verifyGrant(token) {
      const { payload, issuer } = await verify(token, 'oauth-id-jag+jwt');
      const { exp } = payload;
      const iat = issuedAt(payload);
      if (exp === undefined) throw new AssertionError('invalid_request', 'It has no exp.');
      if (exp - iat > LONGEST_LIFETIME_S || exp <= iat) {
        throw new AssertionError('invalid_request', 'It must live an hour at most.');
      }
      const clientId = textOf(payload, 'client_id');
      if (clientId === undefined || (issuer.clientIds && !issuer.clientIds.includes(clientId))) {
        throw new AssertionError('invalid_client_id', 'Its client_id is not one that is let in here.');
      }
      return {
        issuer: issuer.issuer,
        subject: required(payload, 'sub'),
        clientId,
        verifiedEmail: verifiedEmail(payload),
        scopes: scopesOf(payload),
        useDigest: useDigest('id-jag', issuer.issuer, required(payload, 'jti')),
        rememberedUntil: new Date((exp + 2 * SKEW_S) * 1000),
      };
    },

    async verifyEvent(token, kind, events) {
      const { payload, issuer } = await verify(token, kind === 'logout' ? 'logout+jwt' : 'secevent+jwt');
      const iat = issuedAt(payload);
      if (iat < seconds() - OLDEST_EVENT_S) throw new AssertionError('expired', 'It is older than a day.');
      if (kind === 'logout' && payload['nonce'] !== undefined) {
        throw new AssertionError('invalid_request', 'A logout token has no nonce.');
      }
      const told = payload['events'];
      if (!isObject(told) || !events.some((event) => isObject(told[event]))) {
        throw new AssertionError('invalid_request', 'It has no event that is taken here.');
      }
      return {
        issuer: issuer.issuer,
        subject: subjectOf(payload, issuer.issuer),
        useDigest: useDigest('event', issuer.issuer, required(payload, 'jti')),
        rememberedUntil: new Date((iat + OLDEST_EVENT_S + 2 * SKEW_S) * 1000),
      };
    },
  };
}

/** `sub`, or that of `sub_id` (RFC 9493), which both may be there if they agree. */
function subjectOf(payload: JWTPayload, issuer: string): string {
  const { sub_id: subId } = payload as { sub_id?: unknown };
  if (subId === undefined) return required(payload, 'sub');
  const named =
    isObject(subId) && subId['format'] === 'iss_sub' && subId['iss'] === issuer ? subId['sub'] : undefined;
  if (!isText(named) || (payload.sub !== undefined && payload.sub !== named)) {
    throw new AssertionError(
      'invalid_request',
      'Its sub_id is not an iss_sub of its issuer, or not its sub.',
    );
  }
  return named;
}

function verifiedEmail(payload: JWTPayload): string | undefined {
  const { email, email_verified: isVerified } = payload as { email?: unknown; email_verified?: unknown };
  if (isVerified !== true || typeof email !== 'string') return undefined;
  return isClaimableEmail(email) ? email : undefined;
}

/**
 * Whether an account can be found and mailed by an address: one in ASCII with a domain of several names, as the contract has
 * those of accounts. Two that look alike, and belong to two people, must not lead to one account.
 */
export function isClaimableEmail(email: string): boolean {
  return isMailAddress(email) && /^[!-~]+$/.test(email) && email.includes('.', email.indexOf('@'));
}

function scopesOf(payload: JWTPayload): readonly string[] | undefined {
  const { scope } = payload as { scope?: unknown };
  if (scope === undefined) return undefined;
  if (typeof scope !== 'string') throw new AssertionError('invalid_request', 'Its scope is no text.');
  return scope.split(' ').filter((each) => each !== '');
}

function required(payload: JWTPayload, name: string): string {
  const value = textOf(payload, name);
  if (value === undefined) throw new AssertionError('invalid_request', `Its ${name} is missing or too long.`);
  return value;
}

function textOf(payload: JWTPayload, name: string): string | undefined {
  return isText(payload[name]) ? payload[name] : undefined;
}

/** What a row can hold, as it is. */
function isText(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= LONGEST_TEXT &&
    !value.includes('\0') &&
    value.isWellFormed()
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function useDigest(kind: string, issuer: string, jti: string): Buffer {
  return hash('sha256', JSON.stringify([kind, issuer, jti]), 'buffer');
}

function toAssertionError(error: unknown): AssertionError {
  const options = { cause: error };
  if (error instanceof errors.JWTExpired) return new AssertionError('expired', 'It has expired.', options);
  if (error instanceof errors.JWTClaimValidationFailed) {
    const claim = error.claim === 'typ' ? 'typ of its header' : error.claim;
    return new AssertionError('invalid_request', `Its ${claim} is not as it must be.`, options);
  }
  return new AssertionError('invalid_signature', 'Its signature is not one of its issuer.', options);
}
