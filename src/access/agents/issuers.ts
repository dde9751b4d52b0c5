import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { OutboundHttp } from '../../platform/outbound-http/index.ts';
import { parseStrictJson } from '../../platform/strict-json.ts';
import { parseIssuerKeys, type IssuerKeys } from './issuer-keys.ts';
import { keptFor, type TrustedIssuer } from './issuer-state.ts';

/** The shortest time between fetches because of an unknown key. */
const REFETCHED_AFTER_MS = 30 * 1000;
/** The shortest time between requests to an issuer that could not be reached. */
const TRIED_AGAIN_AFTER_MS = 5 * 1000;
const TIMEOUT_MS = 5 * 1000;
const LARGEST_KEY_SET = 512 * 1024;

/** The trusted issuers and their keys. */
export interface Issuers {
  readonly isEmpty: boolean;
  find(issuer: string): TrustedIssuer | undefined;
  /**
   * The keys of an issuer, fetched again when the cached ones have no key of that id.
   * @throws ApiError SERVICE_UNAVAILABLE while the issuer cannot be reached
   */
  keys(issuer: TrustedIssuer, keyId: string): Promise<IssuerKeys>;
}

interface Cached {
  readonly keys: IssuerKeys;
  readonly fetchedAt: number;
  readonly keptUntil: number;
}

interface Dependencies {
  readonly trusted: readonly TrustedIssuer[];
  readonly outbound: Pick<OutboundHttp, 'get'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createIssuers({ trusted, outbound, clock, logger }: Dependencies): Issuers {
  const cache = new Map<string, Cached>();
  const failedAt = new Map<string, number>();
  const underWay = new Map<string, Promise<Cached>>();

  async function download({ issuer, jwksUri }: TrustedIssuer): Promise<Cached> {
    const { status, headers, bytes } = await outbound.get(jwksUri, {
      headers: { accept: 'application/jwk-set+json, application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      maxBytes: LARGEST_KEY_SET,
    });
    if (status !== 200) throw new Error(`${issuer} responded with ${status}`);
    const keys = parseIssuerKeys(parseStrictJson(bytes));
    const now = clock.now().getTime();
    return { keys, fetchedAt: now, keptUntil: now + keptFor(headers['cache-control']) };
  }

  /** Fetches once for all concurrent callers. */
  async function fetchKeys(trustedIssuer: TrustedIssuer): Promise<Cached> {
    const { issuer } = trustedIssuer;
    const now = clock.now().getTime();
    if (now - (failedAt.get(issuer) ?? -Infinity) < TRIED_AGAIN_AFTER_MS) throw unreachable(issuer);
    const running = underWay.get(issuer) ?? download(trustedIssuer).finally(() => underWay.delete(issuer));
    underWay.set(issuer, running);
    try {
      const fetched = await running;
      cache.set(issuer, fetched);
      failedAt.delete(issuer);
      return fetched;
    } catch (error) {
      failedAt.set(issuer, now);
      logger.warn({ err: error, issuer }, 'the keys of a trusted issuer could not be fetched');
      throw unreachable(issuer, error);
    }
  }

  return {
    isEmpty: trusted.length === 0,
    find: (issuer) => trusted.find((each) => each.issuer === issuer),

    async keys(issuer, keyId) {
      const cached = cache.get(issuer.issuer);
      const now = clock.now().getTime();
      if (!cached || cached.keptUntil <= now) return (await fetchKeys(issuer)).keys;
      if (cached.keys.has(keyId) || now - cached.fetchedAt < REFETCHED_AFTER_MS) return cached.keys;
      return (await fetchKeys(issuer)).keys;
    },
  };
}

function unreachable(issuer: string, cause?: unknown): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', {
    detail: `The keys of ${issuer} are unavailable right now.`,
    retryAfter: TRIED_AGAIN_AFTER_MS / 1000,
    cause,
  });
}
