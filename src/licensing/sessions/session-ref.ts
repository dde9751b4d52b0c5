import { fromIdText, toIdText } from '../../platform/ids.ts';

/** Half of the SHA-256 of a session id. */
const BYTES = 16;

/**
 * The reference of a session: it names the session, but cannot be used as one, because the id cannot be computed from
 * a part of its digest.
 */
export function toSessionRef(sessionDigest: Buffer): string {
  return toIdText('ses', sessionDigest.subarray(0, BYTES));
}

/** The beginning of the digest that a reference stands for; undefined if it is not a reference. */
export function digestBeginning(sessionRef: string): Buffer | undefined {
  return fromIdText('ses', sessionRef);
}
