import { hash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are the same, of whatever lengths, in a time that tells nothing about either. */
export function isSameSecret(one: Uint8Array | string, other: Uint8Array | string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
