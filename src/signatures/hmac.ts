import { createHmac, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';

const HEXADECIMAL = /^[0-9a-f]{64}$/i;

/** Whether a hexadecimal HMAC-SHA-256 (RFC 2104) is that of the bytes; compared in constant time. */
export function isHmacOf(signature: string, secret: Uint8Array, bytes: Uint8Array): boolean {
  const expected = createHmac('sha256', secret).update(bytes).digest();
  return HEXADECIMAL.test(signature) && timingSafeEqual(Buffer.from(signature, 'hex'), expected);
}

/** The hexadecimal HMAC-SHA-256 of `nonce + "." + JCS(result)`, JCS being the JSON canonicalization of RFC 8785. */
export function signResult(secret: Uint8Array, nonce: string, result: object): string {
  return createHmac('sha256', secret)
    .update(`${nonce}.${canonicalize(result)}`)
    .digest('hex');
}
