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

/** How many previous keys sign statements, in addition to the one that a rotation adds. */
const MOST_PREVIOUS = 4;
/** How many retired keys a statement names. */
const MOST_RETIRED = 100;

/** The previous keys that a rotation retires. @param keys in the order in which they have signed */
export function surplusOf<Key extends { readonly state: KeyState }>(keys: readonly Key[]): readonly Key[] {
  return keys.filter(({ state }) => state === 'previous').slice(0, -MOST_PREVIOUS);
}

/** The keys that were retired last. */
export function lastRetired<Key extends { readonly state: KeyState; readonly retired_at: Date | null }>(
  keys: readonly Key[],
): readonly Key[] {
  return keys
    .filter(({ state }) => state === 'retired')
    .sort((a, b) => b.retired_at!.getTime() - a.retired_at!.getTime())
    .slice(0, MOST_RETIRED);
}
