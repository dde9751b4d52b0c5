import { hash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets of any length are equal, compared in a time that reveals nothing about either. */
export function isSameSecret(one: Uint8Array | string, other: Uint8Array | string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
