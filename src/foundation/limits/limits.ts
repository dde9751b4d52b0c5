import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors/api-error.ts';
import { addressBlock } from '../../platform/address.ts';
import { clearExpired, createCounter } from './limit-store.ts';

/** Failures of one account per minute, after which even the right password is refused. */
export const FAILURES = 10;
const FAILURE_WINDOW_S = 60;
const CLEARED_AT_ONCE = 1000;

/** A number of requests in a window of some seconds. */
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

/** What failures are counted for: an account, and the origin of the attempts. */
export type Account = readonly string[];

export interface Limits {
  /**
   * Counts one request. The windows are rows of the database, which all nodes share.
   * @param scope what is limited: an application, or a kind of request that belongs to no application
   * @param address of the client, in canonical form
   */
  count(scope: readonly string[], address: string): Promise<Allowance>;
  /**
   * Counts one request that is not an operation of the contract, in the same windows.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  assertRequestAllowed(scope: readonly string[], address: string): Promise<void>;
  /**
   * Refuses even a valid credential while all of the accounts have failed too often.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  assertAttemptAllowed(accounts: readonly [Account, ...Account[]]): Promise<void>;
  /**
   * Counts a failure for all of the accounts.
   * @throws ApiError TOO_MANY_REQUESTS when the first account has too many failures
   */
  countFailure(accounts: readonly [Account, ...Account[]]): Promise<void>;
  /**
   * Counts one use of something limited, on all nodes together.
   * @param kind always has the same window
   * @param what completes the error detail "Too many …"
   * @throws ApiError TOO_MANY_REQUESTS
   */
  take(kind: string, of: Account, window: RateLimit, what: string): Promise<void>;
  /** The number of requests refused since the start. */
  refused(): number;
  /** Deletes some windows that have ended. @returns how many */
  clearExpired(): Promise<number>;
}

/** @param skewMs how far the machine's clock is ahead of the clock that all nodes share */
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
    // A refusal from memory reports no consumed points.
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

    async assertRequestAllowed(scope, address) {
      const { exceeded, limit, windowSeconds, resetSeconds } = await count(scope, address);
      if (!exceeded) return;
      throw new ApiError('TOO_MANY_REQUESTS', {
        detail: `The address has sent more than ${limit} requests within ${windowSeconds} seconds.`,
        retryAfter: resetSeconds,
      });
    },

    async assertAttemptAllowed(accounts) {
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

/** Keeps usernames and addresses out of the table. */
function digest(parts: Account): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url');
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
