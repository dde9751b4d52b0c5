import { createPrivateKey, createPublicKey, hash, sign, type KeyObject } from 'node:crypto';
import type { Random } from '../../platform/random.ts';

/** The beginning of a PKCS #8 document with an Ed25519 key (RFC 8410, section 7); the 32 bytes of the seed follow. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;

/** A key pair of Ed25519 (RFC 8032). */
export interface KeyPair {
  /** The JWK thumbprint (RFC 7638) of the public key. */
  readonly kid: string;
  /** 32 bytes. */
  readonly publicKey: Buffer;
  /** PKCS #8. */
  readonly privateKey: Buffer;
}

/** Creates a key pair. */
export function newKeyPair(random: Random): KeyPair {
  const privateKey = Buffer.concat([PKCS8, random.bytes(SEED_BYTES)]);
  const { x } = createPublicKey(readPrivateKey(privateKey)).export({ format: 'jwk' });
  return { kid: thumbprint(x!), publicKey: Buffer.from(x!, 'base64url'), privateKey };
}

/** @param privateKey PKCS #8 */
export function readPrivateKey(privateKey: Buffer): KeyObject {
  return createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
}

/** Signs with Ed25519. @returns 64 bytes */
export function signEd25519(key: KeyObject, text: string): Buffer {
  return sign(null, Buffer.from(text), key);
}

/** @param x the public key in base64url */
function thumbprint(x: string): string {
  return hash('sha256', `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`, 'base64url');
}
