import { hash } from 'node:crypto';
import { CompactEncrypt, errors, jwtVerify, SignJWT } from 'jose';
import type { Keys } from '../keys/keys.ts';
import type { Random } from '../platform/random.ts';

export interface SessionClaims {
  readonly sessionId: string;
  readonly userId: string;
  readonly appId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

export interface DeveloperClaims {
  readonly developerId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

export interface AgentClaims {
  /** The payment that the access was bought with. */
  readonly reference: string;
  readonly scope: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

export interface SandboxClaims {
  readonly appId: string;
  readonly username: string;
  /** Digest of the hardware identifier. */
  readonly machine: string;
  readonly expiresAt: Date;
}

/**
 * Issues tokens. None is believed for what it says, because its digest finds its row and the row decides; only those of
 * the sandbox have no row.
 */
export interface Tokens {
  /** A JWS (RFC 7515), EdDSA, `typ: JWT`, that carries the session id as `sid`. */
  signSessionToken(claims: SessionClaims): Promise<string>;
  /** A JWE (RFC 7516), `dir` and `A256GCM`, not compressed, around a session's JWS. */
  encryptSessionToken(signedToken: string): Promise<string>;
  /** A JWS of another `typ`, so that a developer's token is never taken for a session's. */
  signDeveloperToken(claims: DeveloperClaims): Promise<string>;
  /** A JWS of a `typ` of its own, for an agent that has paid. */
  signAgentToken(claims: AgentClaims): Promise<string>;
  /** A JWS of a `typ` of its own: good for the sandbox and for nothing else. */
  signSandboxToken(claims: SandboxClaims & { readonly issuedAt: Date }): Promise<string>;
  /** What a sandbox token says, expired or not; undefined for everything that is not one of ours. */
  readSandboxToken(token: string): Promise<SandboxClaims | undefined>;
}

const SANDBOX_TYPE = 'sandbox+jwt';

/** @param issuer `{base_url}`, the `iss` of every token */
export function createTokens(keys: Keys, random: Random, issuer: () => string): Tokens {
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
    signDeveloperToken: (claims) =>
      sign('developer+jwt', claims.developerId, { jti: random.bytes(16).toString('base64url') }, claims),
    signAgentToken: (claims) => {
      const jti = random.bytes(16).toString('base64url');
      return sign('agent+jwt', claims.reference, { jti, scope: claims.scope }, claims);
    },
    signSandboxToken: (claims) =>
      sign(SANDBOX_TYPE, claims.username, { aud: claims.appId, machine: claims.machine }, claims),

    async readSandboxToken(token) {
      if (!isCanonical(token)) return undefined;
      try {
        const { payload } = await jwtVerify<{ machine: string }>(token, tokenSigning.publicKey, {
          algorithms: ['EdDSA'],
          typ: SANDBOX_TYPE,
          requiredClaims: ['sub', 'aud', 'exp', 'machine'],
          // Whether it has expired is asked of our own clock.
          currentDate: new Date(0),
          clockTolerance: 0,
        });
        return {
          appId: String(payload.aud),
          username: payload.sub!,
          machine: payload.machine,
          expiresAt: new Date(payload.exp! * 1000),
        };
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}

/** Decoders forgive white space, padding and unused bits: another text must be another token. */
function isCanonical(token: string): boolean {
  const parts = token.split('.');
  return parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

interface Times {
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** SHA-256: all that is kept of a token or a session id. */
export function tokenDigest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
