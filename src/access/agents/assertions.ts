import { hash } from 'node:crypto';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from '../../platform/clock.ts';
import { readJwt } from '../../platform/jwt-text.ts';
import { isMailAddress } from '../../platform/mail/mailbox.ts';
import { ISSUER_ALGORITHMS } from './issuer-keys.ts';
import type { SubjectOfIssuer, TrustedIssuer } from './issuer-state.ts';
import type { Issuers } from './issuers.ts';

/** How far an issuer's clock may be off. */
const SKEW_S = 60;
/** Between `iat` and `exp`, so that a stolen assertion does not work for long. */
const LONGEST_LIFETIME_S = 60 * 60;
/** An older security event was delayed or replayed. */
const OLDEST_EVENT_S = 24 * 60 * 60;
const LONGEST_TEXT = 1024;

/** Why a token of an issuer is refused: the error codes of auth.md, where it has one. */
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

/** A token of an issuer was refused. */
export class AssertionError extends Error {
  override name = 'AssertionError';
  readonly fault: AssertionFault;

  /** @param message a sentence that the sender may see; it contains nothing of the token */
  constructor(fault: AssertionFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Identifies a token that can be used once. */
interface SingleUse {
  /** SHA-256 of the kind of token, its issuer and its `jti`. */
  readonly useDigest: Buffer;
  /** When the use can be forgotten. */
  readonly rememberedUntil: Date;
}

/** A verified ID-JAG. */
export interface Assertion extends SubjectOfIssuer, SingleUse {
  readonly clientId: string;
  /** Undefined unless the issuer has verified it. */
  readonly verifiedEmail: string | undefined;
  /** Undefined when the issuer leaves the scopes to this service. */
  readonly scopes: readonly string[] | undefined;
}

/** A verified security event or logout token. */
export interface IssuerEvent extends SubjectOfIssuer, SingleUse {}

/** Verifies tokens that issuers sign. */
export interface Assertions {
  /**
   * Verifies an Identity Assertion JWT Authorization Grant.
   * @throws AssertionError
   * @throws ApiError SERVICE_UNAVAILABLE while the issuer's keys are unavailable
   */
  verifyGrant(token: string): Promise<Assertion>;
  /**
   * Verifies a Security Event Token (RFC 8417), or a logout token (OpenID Connect Back-Channel Logout).
   * @param events the accepted event types: the token must have at least one of them
   * @throws AssertionError
   * @throws ApiError SERVICE_UNAVAILABLE while the issuer's keys are unavailable
   */
  verifyEvent(token: string, kind: 'secevent' | 'logout', events: readonly string[]): Promise<IssuerEvent>;
}

interface Dependencies {
  readonly issuers: Issuers;
  readonly clock: Clock;
  /** The issuer of this service, which `aud` must be. */
  readonly issuer: () => string;
}

export function createAssertions({ issuers, clock, issuer: own }: Dependencies): Assertions {
  function issuerOf(token: string): { readonly issuer: TrustedIssuer; readonly keyId: string } {
    const jwt = readJwt(token);
    if (!jwt) throw new AssertionError('invalid_request', 'The token is not a valid JWT.');
    const { header, payload } = jwt;
    const issuer = typeof payload['iss'] === 'string' ? issuers.find(payload['iss']) : undefined;
    if (!issuer) throw new AssertionError('invalid_issuer', 'The issuer of the token is not trusted.');
    const keyId = header['kid'];
    if (typeof keyId !== 'string')
      throw new AssertionError('unknown_key', 'The header of the token has no kid.');
    return { issuer, keyId };
  }

  async function verify(token: string, typ: string) {
    const { issuer, keyId } = issuerOf(token);
    const keys = await issuers.keys(issuer, keyId);
    if (!keys.has(keyId))
      throw new AssertionError('unknown_key', 'The issuer has not published the key of the token.');
    try {
      const { payload } = await jwtVerify(token, keys.find, {
        algorithms: ISSUER_ALGORITHMS,
        typ,
        issuer: issuer.issuer,
        currentDate: clock.now(),
        clockTolerance: SKEW_S,
      });
      assertAudience(payload);
      return { payload, issuer };
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      // Any other error comes from the key: an issuer may publish an invalid one.
      throw toAssertionError(error);
    }
  }

  /** Accepts no further audience: it could replay the token here. */
  function assertAudience({ aud }: JWTPayload): void {
    const [only, ...others] = Array.isArray(aud) ? aud : [aud];
    if (only === own() && others.length === 0) return;
    throw new AssertionError('invalid_audience', `The audience of the token must be ${own()} alone.`);
  }

  const seconds = () => Math.floor(clock.now().getTime() / 1000);

  /** @returns `iat` */
  function issuedAt({ iat }: JWTPayload): number {
    if (iat === undefined) throw new AssertionError('invalid_request', 'The token has no iat.');
    if (iat > seconds() + SKEW_S)
      throw new AssertionError('invalid_request', 'The iat of the token is in the future.');
    return iat;
  }

  return {
    async verifyGrant(token) {
      const { payload, issuer } = await verify(token, 'oauth-id-jag+jwt');
      const { exp } = payload;
      const iat = issuedAt(payload);
      if (exp === undefined) throw new AssertionError('invalid_request', 'The token has no exp.');
      if (exp - iat > LONGEST_LIFETIME_S || exp <= iat) {
        throw new AssertionError('invalid_request', 'The token must expire within an hour of its iat.');
      }
      const clientId = textOf(payload, 'client_id');
      if (clientId === undefined || (issuer.clientIds && !issuer.clientIds.includes(clientId))) {
        throw new AssertionError(
          'invalid_client_id',
          'The issuer may not assert the client_id of the token.',
        );
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
      if (iat < seconds() - OLDEST_EVENT_S)
        throw new AssertionError('expired', 'The token is older than a day.');
      if (kind === 'logout' && payload['nonce'] !== undefined) {
        throw new AssertionError('invalid_request', 'A logout token has no nonce.');
      }
      const named = payload['events'];
      if (!isObject(named) || !events.some((event) => isObject(named[event]))) {
        throw new AssertionError('invalid_request', 'The token has no event that this service accepts.');
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

/** The subject by `sub` or `sub_id` (RFC 9493): a token may have both if they agree. */
function subjectOf(payload: JWTPayload, issuer: string): string {
  const { sub_id: subId } = payload as { sub_id?: unknown };
  if (subId === undefined) return required(payload, 'sub');
  const named =
    isObject(subId) && subId['format'] === 'iss_sub' && subId['iss'] === issuer ? subId['sub'] : undefined;
  if (!isText(named) || (payload.sub !== undefined && payload.sub !== named)) {
    throw new AssertionError(
      'invalid_request',
      'The sub_id of the token must be an iss_sub of its issuer, and agree with its sub.',
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
 * Whether an email address can belong to an account: in ASCII and with a complete domain name, as the
 * contract defines it. Similar-looking addresses of two people must not lead to one account.
 */
export function isClaimableEmail(email: string): boolean {
  return isMailAddress(email) && /^[!-~]+$/.test(email) && email.includes('.', email.indexOf('@'));
}

function scopesOf(payload: JWTPayload): readonly string[] | undefined {
  const { scope } = payload as { scope?: unknown };
  if (scope === undefined) return undefined;
  if (typeof scope !== 'string')
    throw new AssertionError('invalid_request', 'The scope of the token is not a string.');
  return scope.split(' ').filter((each) => each !== '');
}

function required(payload: JWTPayload, name: string): string {
  const value = textOf(payload, name);
  if (value === undefined)
    throw new AssertionError('invalid_request', `The ${name} of the token is missing or too long.`);
  return value;
}

function textOf(payload: JWTPayload, name: string): string | undefined {
  return isText(payload[name]) ? payload[name] : undefined;
}

/** Whether the database can store a value unchanged. */
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
  if (error instanceof errors.JWTExpired)
    return new AssertionError('expired', 'The token has expired.', options);
  if (error instanceof errors.JWTClaimValidationFailed) {
    const claim = error.claim === 'typ' ? 'typ of its header' : error.claim;
    return new AssertionError('invalid_request', `The ${claim} of the token is not valid.`, options);
  }
  return new AssertionError('invalid_signature', 'The signature of the token is not valid.', options);
}
