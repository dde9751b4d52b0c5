import { createHmac, timingSafeEqual } from 'node:crypto';

const HEXADECIMAL = /^[0-9a-f]{64}$/i;

/**
 * Whether a hexadecimal HMAC-SHA-256 (RFC 2104) is that of the text, a string in UTF-8; compared in constant
 * time.
 */
export function isHmacOf(signature: string, secret: Uint8Array, text: Uint8Array | string): boolean {
  const expected = createHmac('sha256', secret).update(text).digest();
  return HEXADECIMAL.test(signature) && timingSafeEqual(Buffer.from(signature, 'hex'), expected);
}

/** The lowercase hexadecimal HMAC-SHA-256 (RFC 2104) of a text in UTF-8. */
export function hmacOf(secret: Uint8Array, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}
