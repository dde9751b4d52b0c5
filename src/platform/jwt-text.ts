import { parseStrictJson } from './strict-json.ts';

/** The header and the payload of a JWT. */
export interface JwtText {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Reads a JWT in the compact form of a JWS (RFC 7519, RFC 7515, section 7.1) without checking its signature: its
 * content cannot be trusted.
 * @returns undefined for an ambiguous encoding, such as a duplicate member or non-canonical base64url
 */
export function readJwt(token: string): JwtText | undefined {
  const parts = token.split('.');
  if (parts.length !== 3 || !isCanonicalToken(token)) return undefined;
  const [header, payload] = [readPart(parts[0]!), readPart(parts[1]!)];
  return header && payload && { header, payload };
}

/** Decoders ignore white space, padding and unused bits, but each token must have exactly one valid encoding. */
export function isCanonicalToken(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

function readPart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseStrictJson(Buffer.from(part, 'base64url'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
