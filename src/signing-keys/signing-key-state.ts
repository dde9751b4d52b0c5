/** How long a key is published before it signs, so that whoever has fetched the keys before knows it. */
export const PUBLISHED_AHEAD_MS = 10 * 60 * 1000;
/** How long a key is published after another one has taken over: nothing that is signed lives longer. */
export const PUBLISHED_AFTER_MS = 25 * 60 * 60 * 1000;
/** When a key is replaced by itself. */
export const REPLACED_AFTER_MS = 90 * 24 * 60 * 60 * 1000;

export type SigningAlg = 'ES256' | 'RS256';
export type SigningKeyState = 'pending' | 'signing' | 'retired';

interface Dated {
  readonly alg: SigningAlg;
  readonly activeFrom: Date;
}

/**
 * What each key is for at a moment, of those that were not removed.
 * @returns those that are published, the one that has signed first at last
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

/** Whether the newest key of an algorithm is due to be replaced. */
export function isDue(keys: readonly Dated[], now: Date): boolean {
  const newest = Math.max(...keys.map(({ activeFrom }) => activeFrom.getTime()));
  return now.getTime() >= newest + REPLACED_AFTER_MS;
}
