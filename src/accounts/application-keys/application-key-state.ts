/** What a key of an application is used for. */
export type KeyState = 'signing' | 'next' | 'previous' | 'retired';

/** How long the next key is published before it may replace the signing key: programs pin it in the meantime. */
export const PINNED_MS = 30 * 24 * 60 * 60 * 1000;

interface Dated {
  readonly created_at: Date;
}

/** When the next key may become the signing key without force. */
export function earliestRotation({ created_at }: Dated): Date {
  return new Date(created_at.getTime() + PINNED_MS);
}

/**
 * The serial number of the statement about some keys. It rises with every rotation and retirement, because a key that
 * was created is never forgotten.
 * @param keys all keys of an application
 */
export function serialOf(keys: readonly { readonly state: KeyState }[]): number {
  return keys.length + keys.filter(({ state }) => state === 'retired').length;
}
