import { ApiError } from '../errors/api-error.ts';
import type { Limits } from '../limits/limits.ts';

/**
 * Counts one request of an address.
 * @throws ApiError TOO_MANY_REQUESTS
 */
export async function countOne(
  limits: Pick<Limits, 'count'>,
  scope: readonly string[],
  address: string,
): Promise<void> {
  const { exceeded, limit, windowSeconds, resetSeconds } = await limits.count(scope, address);
  if (!exceeded) return;
  throw new ApiError('TOO_MANY_REQUESTS', {
    detail: `More than ${limit} requests within ${windowSeconds} seconds.`,
    retryAfter: resetSeconds,
  });
}
