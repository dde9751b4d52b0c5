const SHORTEST_MS = 10 * 60 * 1000;
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** An issuer that may assert the identity of agents. */
export interface TrustedIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  /** The agents that it may assert; undefined for all. */
  readonly clientIds: readonly string[] | undefined;
}

/** An identity that an issuer asserts. */
export interface SubjectOfIssuer {
  readonly issuer: string;
  readonly subject: string;
}

/** How long to cache keys by their `Cache-Control`: 10 minutes to 24 hours; 10 minutes without `max-age`. */
export function keptFor(cacheControl: string | undefined): number {
  const [, seconds] = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl ?? '') ?? [];
  return Math.min(Math.max(Number(seconds ?? 0) * 1000, SHORTEST_MS), LONGEST_MS);
}
