/** How long a key is published before it signs, so that clients with a cached key set have it by then. */
export const PUBLISHED_AHEAD_MS = 10 * 60 * 1000;
/**
 * How long a key stays published after its successor signs: longer than the lifetime of anything it signed.
 */
export const PUBLISHED_AFTER_MS = 25 * 60 * 60 * 1000;
/** The age at which a key is rotated automatically. */
export const REPLACED_AFTER_MS = 90 * 24 * 60 * 60 * 1000;

export type SigningAlg = 'ES256' | 'RS256';
export type SigningKeyState = 'pending' | 'signing' | 'retired';

interface Dated {
  readonly alg: SigningAlg;
  readonly activeFrom: Date;
}

/**
 * The state of each key at a given time, for keys that were not removed.
 * @returns the published keys, newest first
 */
export function publishedKeys<Key extends Dated>(
  keys: readonly Key[],
  now: Date,
): (Key & { readonly state: SigningKeyState })[] {
  return [...keys]
    .sort((a, b) => b.activeFrom.getTime() - a.activeFrom.getTime())
    .flatMap((key) => {
      const successor = keys
        .filter((other) => other.alg === key.alg && other.activeFrom > key.activeFrom)
        .reduce((first, other) => Math.min(first, other.activeFrom.getTime()), Infinity);
      if (now.getTime() >= successor + PUBLISHED_AFTER_MS) return [];
      const state = key.activeFrom > now ? 'pending' : successor > now.getTime() ? 'signing' : 'retired';
      return [{ ...key, state }];
    });
}

/** Whether the newest key of an algorithm is due for rotation. */
export function isDue(keys: readonly Dated[], now: Date): boolean {
  const newest = Math.max(...keys.map(({ activeFrom }) => activeFrom.getTime()));
  return now.getTime() >= newest + REPLACED_AFTER_MS;
}
