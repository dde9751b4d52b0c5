import { createLocalJWKSet, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose';

/** The accepted signature algorithms. */
export const ISSUER_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

const SMALLEST_MODULUS_BITS = 2048;
/** A larger modulus only slows down each verification. */
const LARGEST_MODULUS_BITS = 8192;
const SMALLEST_EXPONENT = 65_537n;
const LARGEST_EXPONENT_BITS = 64;
const ELLIPTIC_CURVES = ['P-256'];
const EDWARDS_CURVES = ['Ed25519'];

/** The keys that an issuer has published. */
export interface IssuerKeys {
  /** Finds the key of a signature among the strong keys. */
  readonly find: JWTVerifyGetKey;
  /** Whether a key of this id is published, weak ones included. */
  has(keyId: string): boolean;
}

/**
 * Imports the key set of an issuer (RFC 7517). Nothing else imports keys that others publish. Weak keys,
 * private keys and keys for another purpose are left out, so that their signatures are refused.
 * @param document a parsed JSON document
 * @throws Error when it is not a key set
 */
export function parseIssuerKeys(document: unknown): IssuerKeys {
  const set = document as JSONWebKeySet | null;
  if (!Array.isArray(set?.keys)) throw new Error('The document is not a JSON Web Key Set.');
  const published = set.keys.filter((key) => typeof key === 'object' && key !== null && !Array.isArray(key));
  const keyIds = new Set(published.map(({ kid }) => kid));
  return {
    find: createLocalJWKSet({ keys: published.filter(isStrong) }),
    has: (keyId) => keyIds.has(keyId),
  };
}

/** Whether signatures of a key can be trusted: a public key for signatures, of a sufficient size. */
export function isStrong(key: JWK): boolean {
  const { kty, crv, use, alg, key_ops: operations } = key;
  const isForSignatures =
    (use === undefined || use === 'sig') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify'))) &&
    (alg === undefined || ISSUER_ALGORITHMS.includes(alg));
  if (!isForSignatures || 'd' in key || 'k' in key) return false;
  if (kty === 'RSA') return isStrongRsa(integerOf(key.n), integerOf(key.e));
  if (kty === 'EC') return ELLIPTIC_CURVES.includes(crv!);
  return kty === 'OKP' && EDWARDS_CURVES.includes(crv!);
}

/** An exponent of 1 makes every message its own signature; a small one, or an even modulus, can be broken. */
function isStrongRsa(modulus: bigint | undefined, exponent: bigint | undefined): boolean {
  if (modulus === undefined || exponent === undefined) return false;
  const size = bitsOf(modulus);
  return (
    size >= SMALLEST_MODULUS_BITS &&
    size <= LARGEST_MODULUS_BITS &&
    modulus % 2n === 1n &&
    exponent >= SMALLEST_EXPONENT &&
    exponent % 2n === 1n &&
    bitsOf(exponent) <= LARGEST_EXPONENT_BITS
  );
}

/** @returns undefined for a value that is not base64url, or longer than any accepted key */
function integerOf(text: unknown): bigint | undefined {
  if (typeof text !== 'string' || text.length > LARGEST_MODULUS_BITS || !/^[\w-]+$/.test(text))
    return undefined;
  const hex = Buffer.from(text, 'base64url').toString('hex');
  return hex === '' ? undefined : BigInt(`0x${hex}`);
}

function bitsOf(value: bigint): number {
  return value.toString(2).length;
}
