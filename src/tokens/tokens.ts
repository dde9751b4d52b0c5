import { hash } from 'node:crypto';
import { CompactEncrypt, SignJWT } from 'jose';
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

/** Issues tokens. None is ever believed for what it says: its digest finds its row, and the row decides. */
export interface Tokens {
  /** A JWS (RFC 7515), EdDSA, `typ: JWT`, that carries the session id as `sid`. */
  signSessionToken(claims: SessionClaims): Promise<string>;
  /** A JWE (RFC 7516), `dir` and `A256GCM`, not compressed, around a session's JWS. */
  encryptSessionToken(signedToken: string): Promise<string>;
  /** A JWS of another `typ`, so that a developer's token is never taken for a session's. */
  signDeveloperToken(claims: DeveloperClaims): Promise<string>;
}

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
  };
}

interface Times {
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** SHA-256: all that is kept of a token or a session id. */
export function tokenDigest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
