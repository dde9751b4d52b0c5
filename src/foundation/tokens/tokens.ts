import { hash } from 'node:crypto';
import { CompactEncrypt, errors, jwtVerify, SignJWT } from 'jose';
import type { Keys } from '../installation-keys/installation-keys.ts';
import { isCanonicalToken, readJwt } from '../../platform/jwt-text.ts';
import type { Random } from '../../platform/random.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';

export interface SessionClaims {
  readonly sessionId: string;
  readonly userId: string;
  readonly appId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** The claims of an access token that differ from token to token. */
export interface AccessTokenClaims {
  /** On whose behalf the client acts: a developer, or the client itself. */
  readonly subject: string;
  /** The client that acts. */
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

export interface SandboxClaims {
  readonly appId: string;
  readonly username: string;
  /** Digest of the hardware identifier. */
  readonly machine: string;
  readonly expiresAt: Date;
  /** Whether the token has a unique id; set by `signSandboxToken`. */
  readonly isUnique?: boolean;
}

/**
 * Issues tokens. Their claims are not trusted: the digest of a token finds its row, and the row decides. Only
 * sandbox tokens have no row.
 */
export interface Tokens {
  /** A JWS (RFC 7515), EdDSA, `typ: JWT`, with the session id as `sid`. */
  signSessionToken(claims: SessionClaims): Promise<string>;
  /** A JWE (RFC 7516), `dir` and `A256GCM`, not compressed, around a session's JWS. */
  encryptSessionToken(signedToken: string): Promise<string>;
  /** A JWT access token (RFC 9068) of a developer or an agent for this API. */
  signAccessToken(claims: AccessTokenClaims): Promise<string>;
  /** A JWS with a separate `typ`, which is only valid for the sandbox. */
  signSandboxToken(claims: SandboxClaims & { readonly issuedAt: Date }): Promise<string>;
  /**
   * The claims of a sandbox token, even if it has expired; undefined for a text that is not a sandbox token.
   */
  readSandboxToken(token: string): Promise<SandboxClaims | undefined>;
}

const SANDBOX_TYPE = 'sandbox+jwt';
/** RFC 9068, section 2.1. */
const ACCESS_TOKEN_TYPE = 'at+jwt';

const COOKIE = /^lkb_[A-Za-z0-9_-]{43}$/;

/** @returns a new value for the cookie of a browser session: 256 random bits */
export function newCookie(random: Random): string {
  return `lkb_${random.bytes(32).toString('base64url')}`;
}

/** Whether a text has the form of such a value. */
export function isCookie(text: string): boolean {
  return COOKIE.test(text);
}

/** @param issuer `{base_url}`, the `iss` of every token */
export function createTokens(
  keys: Keys,
  signingKeys: Pick<SigningKeys, 'sign'>,
  random: Random,
  issuer: () => string,
): Tokens {
  const { tokenSigning, tokenEncryption } = keys;

  function sign(
    typ: string,
    subject: string,
    payload: Record<string, string>,
    times: Times,
  ): Promise<string> {
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'EdDSA', typ, kid: tokenSigning.id })
      .setIssuer(issuer())
      .setSubject(subject)
      .setIssuedAt(times.issuedAt)
      .setExpirationTime(times.expiresAt)
      .sign(tokenSigning.key);
  }

  return {
    signSessionToken: (claims) =>
      sign('JWT', claims.userId, { sid: claims.sessionId, aud: claims.appId }, claims),
    encryptSessionToken: (signedToken) =>
      new CompactEncrypt(Buffer.from(signedToken))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', cty: 'JWT', kid: tokenEncryption.id })
        .encrypt(tokenEncryption.key),
    signAccessToken: ({ subject, clientId, scopes, issuedAt, expiresAt }) =>
      signingKeys.sign(ACCESS_TOKEN_TYPE, {
        iss: issuer(),
        sub: subject,
        aud: issuer(),
        client_id: clientId,
        scope: scopes.join(' '),
        jti: random.bytes(16).toString('base64url'),
        iat: Math.floor(issuedAt.getTime() / 1000),
        exp: Math.floor(expiresAt.getTime() / 1000),
      }),
    signSandboxToken: (claims) => {
      // Makes the tokens of equal requests in one second different, so that each client can claim its own.
      const jti = random.bytes(16).toString('base64url');
      return sign(SANDBOX_TYPE, claims.username, { aud: claims.appId, machine: claims.machine, jti }, claims);
    },

    async readSandboxToken(token) {
      if (!isCanonicalToken(token)) return undefined;
      try {
        const { payload } = await jwtVerify<{ machine: string }>(token, tokenSigning.publicKey, {
          algorithms: ['EdDSA'],
          typ: SANDBOX_TYPE,
          requiredClaims: ['sub', 'aud', 'exp', 'machine'],
          // The caller checks the expiry with the service's clock.
          currentDate: new Date(0),
          clockTolerance: 0,
        });
        return {
          appId: String(payload.aud),
          username: payload.sub!,
          machine: payload.machine,
          expiresAt: new Date(payload.exp! * 1000),
          isUnique: payload.jti !== undefined,
        };
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}

interface Times {
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** Unverified claims of a JWT, to decide in which table to look it up. */
export interface Claimed {
  readonly typ: string | undefined;
  readonly keyId: string | undefined;
  readonly clientId: string | undefined;
}

/** @returns undefined for a text that is not a JWT in canonical form */
export function readClaimed(token: string): Claimed | undefined {
  const jwt = readJwt(token);
  if (!jwt) return undefined;
  const { header, payload } = jwt;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    typ: text(header['typ']),
    keyId: text(header['kid']),
    clientId: text(payload['client_id']),
  };
}

/** SHA-256: the only form in which a token or a session id is stored. */
export function tokenDigest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
