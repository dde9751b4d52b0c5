const SHORTEST_MS = 10 * 60 * 1000;
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** Somebody who may assert the identity of agents. */
export interface TrustedIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Of the agents that it may speak for; undefined for all. */
  readonly clientIds: readonly string[] | undefined;
}

/** Who an issuer says that somebody is. */
export interface SubjectOfIssuer {
  readonly issuer: string;
  readonly subject: string;
}

/** How long keys are kept that came with a `Cache-Control`: 10 minutes to 24 hours, the first where it says nothing. */
export function keptFor(cacheControl: string | undefined): number {
  const [, seconds] = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl ?? '') ?? [];
  return Math.min(Math.max(Number(seconds ?? 0) * 1000, SHORTEST_MS), LONGEST_MS);
}
