import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors/api-error.ts';
import { addressBlock } from '../platform/address.ts';
import { clearExpired, createCounter } from './limit-store.ts';

/** Failures of one account in a minute, before not even the right password opens it. */
export const FAILURES = 10;
const FAILURE_WINDOW_S = 60;
const CLEARED_AT_ONCE = 1000;

/** So many requests in a window of so many seconds. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** What a client has left. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends. */
  readonly resetSeconds: number;
  readonly windowSeconds: number;
  readonly exceeded: boolean;
}

/** What failures are counted for: who is meant, and where they come from. */
export type Account = readonly string[];

export interface Limits {
  /**
   * Counts one request. The windows are rows of the database: every node counts into the same ones.
   * @param scope what is limited: an application, or a kind of request that belongs to none
   * @param address of the client, in canonical form
   */
  count(scope: readonly string[], address: string): Promise<Allowance>;
  /**
   * Counts one request, in the same windows, for what is not an operation of the contract.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  assertMayAsk(scope: readonly string[], address: string): Promise<void>;
  /**
   * Asked once a credential has turned out right: it opens nothing while every one of the accounts has failed too often.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  assertMayTry(accounts: readonly [Account, ...Account[]]): Promise<void>;
  /**
   * Counts a failure for all of the accounts.
   * @throws ApiError TOO_MANY_REQUESTS when it is one too many for the first
   */
  countFailure(accounts: readonly [Account, ...Account[]]): Promise<void>;
  /**
   * Counts one of something that there may be only so many of, over all nodes.
   * @param kind whose window is always the same
   * @param what is told to whoever is refused: words that complete "Too many …"
   * @throws ApiError TOO_MANY_REQUESTS
   */
  take(kind: string, of: Account, window: RateLimit, what: string): Promise<void>;
  /** Requests that were refused since the start. */
  refused(): number;
  /** Deletes some windows that have ended. @returns how many */
  clearExpired(): Promise<number>;
}

/** @param skewMs how far the machine's clock is ahead of the one that all nodes have in common */
export function createLimits(knex: Knex, rateLimit: RateLimit, skewMs: () => number): Limits {
  const requests = createCounter(knex, skewMs, 'requests', rateLimit);
  const failures = createCounter(knex, skewMs, 'failures', { requests: FAILURES, seconds: FAILURE_WINDOW_S });
  const others = new Map<string, ReturnType<typeof createCounter>>();
  let refused = 0;

  function refuse({ msBeforeNext }: RateLimiterRes): never {
    refused += 1;
    throw new ApiError('TOO_MANY_REQUESTS', {
      detail: `${FAILURES} attempts have failed within ${FAILURE_WINDOW_S} seconds.`,
      retryAfter: seconds(msBeforeNext),
    });
  }

  async function count(scope: readonly string[], address: string): Promise<Allowance> {
    const window = await requests
      .consume(digest([...scope, addressBlock(address)]))
      .catch((error: unknown) => {
        if (error instanceof RateLimiterRes) return error;
        throw error;
      });
    // What is refused from memory says nothing of how much was consumed.
    const exceeded = window.consumedPoints > rateLimit.requests || window.consumedPoints === 0;
    if (exceeded) refused += 1;
    return {
      limit: rateLimit.requests,
      remaining: exceeded ? 0 : window.remainingPoints,
      resetSeconds: seconds(window.msBeforeNext),
      windowSeconds: rateLimit.seconds,
      exceeded,
    };
  }

  return {
    count,

    async assertMayAsk(scope, address) {
      const { exceeded, limit, windowSeconds, resetSeconds } = await count(scope, address);
      if (!exceeded) return;
      throw new ApiError('TOO_MANY_REQUESTS', {
        detail: `More than ${limit} requests within ${windowSeconds} seconds.`,
        retryAfter: resetSeconds,
      });
    },

    async assertMayTry(accounts) {
      const windows = await Promise.all(accounts.map((account) => failures.get(digest(account))));
      const full = windows.filter((window) => window !== null && window.consumedPoints >= FAILURES);
      if (full.length === windows.length) refuse(full[0]!);
    },

    async countFailure(accounts) {
      const [window] = await Promise.all(accounts.map((account) => failures.penalty(digest(account))));
      if (window!.consumedPoints > FAILURES) refuse(window!);
    },

    async take(kind, of, window, what) {
      const counter = others.get(kind) ?? createCounter(knex, skewMs, kind, window);
      others.set(kind, counter);
      try {
        await counter.consume(digest(of));
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error;
        refused += 1;
        throw new ApiError('TOO_MANY_REQUESTS', {
          detail: `Too many ${what}.`,
          retryAfter: seconds(error.msBeforeNext),
        });
      }
    },

    refused: () => refused,
    clearExpired: () => clearExpired(knex, CLEARED_AT_ONCE),
  };
}

/** The table holds neither usernames nor addresses. */
function digest(parts: Account): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url');
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
