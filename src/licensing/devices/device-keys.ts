import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto';

export type DeviceAlgorithm = 'EdDSA' | 'ES256';

/** The public key of a device. */
export interface DeviceKey {
  readonly alg: DeviceAlgorithm;
  /** 32 bytes of an Ed25519 key (RFC 8032), or 64 of a P-256 key: x and y. */
  readonly publicKey: Buffer;
  /** `dev_` and the JWK thumbprint (RFC 7638). */
  readonly deviceId: string;
}

const FIELD_BYTES = 32;

/**
 * The y coordinates of the Ed25519 points of small order, without their sign bit: with such a key, one signature would
 * be valid for many messages.
 */
const SMALL_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

/**
 * Reads the public key of a device (RFC 7517, RFC 8037).
 * @param alg how the device signs
 * @param jwk a value from the request
 * @returns undefined unless it is a public key for that algorithm, in canonical form
 */
export function readDeviceKey(alg: unknown, jwk: unknown): DeviceKey | undefined {
  if (typeof jwk !== 'object' || jwk === null || 'd' in jwk) return undefined;
  const { kty, crv, x, y } = jwk as Readonly<Record<string, unknown>>;
  if (alg === 'EdDSA' && kty === 'OKP' && crv === 'Ed25519' && y === undefined) {
    const publicKey = coordinate(x);
    if (!publicKey || isSmallOrder(publicKey)) return undefined;
    return keyOf(alg, publicKey, `{"crv":"Ed25519","kty":"OKP","x":"${String(x)}"}`);
  }
  if (alg === 'ES256' && kty === 'EC' && crv === 'P-256') {
    const point = [coordinate(x), coordinate(y)];
    if (!point[0] || !point[1]) return undefined;
    const text = `{"crv":"P-256","kty":"EC","x":"${String(x)}","y":"${String(y)}"}`;
    return keyOf(alg, Buffer.concat(point as Buffer[]), text);
  }
  return undefined;
}

/** The key as Node.js uses it. @throws Error for a point that is not on the curve */
export function toKeyObject({ alg, publicKey }: Pick<DeviceKey, 'alg' | 'publicKey'>): KeyObject {
  const [x, y] = [publicKey.subarray(0, FIELD_BYTES), publicKey.subarray(FIELD_BYTES)].map((bytes) =>
    bytes.toString('base64url'),
  );
  const key = alg === 'EdDSA' ? { kty: 'OKP', crv: 'Ed25519', x } : { kty: 'EC', crv: 'P-256', x, y };
  return createPublicKey({ key, format: 'jwk' });
}

/**
 * Whether a signature of 64 bytes is that of a device: Ed25519 (RFC 8032), or r and s of ECDSA with SHA-256 (RFC 7518,
 * section 3.4).
 */
export function isSignedBy(alg: DeviceAlgorithm, key: KeyObject, text: string, signature: Buffer): boolean {
  return alg === 'EdDSA'
    ? verify(null, Buffer.from(text), key, signature)
    : verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, signature);
}

function keyOf(alg: DeviceAlgorithm, publicKey: Buffer, canonical: string): DeviceKey | undefined {
  const key = { alg, publicKey, deviceId: `dev_${hash('sha256', canonical, 'base64url')}` };
  try {
    toKeyObject(key);
    return key;
  } catch {
    return undefined;
  }
}

/** @returns undefined unless the text is exactly the base64url of 32 bytes */
function coordinate(text: unknown): Buffer | undefined {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === FIELD_BYTES && bytes.toString('base64url') === text ? bytes : undefined;
}

function isSmallOrder(publicKey: Buffer): boolean {
  const y = Buffer.from(publicKey);
  y[FIELD_BYTES - 1]! &= 0x7f;
  return SMALL_ORDER.has(y.toString('hex'));
}
