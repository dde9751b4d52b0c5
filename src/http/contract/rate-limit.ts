import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Services } from '../../services.ts';
import type { Client } from '../../platform/address.ts';

/**
 * What a limit applies to: one application, or all requests of a kind that belong to no application. `x-rate-limit` of
 * an operation says which.
 */
export type RateLimitScope = 'application' | 'developers' | 'sandbox' | 'agents';

/**
 * Counts a request and sets its headers (draft-ietf-httpapi-ratelimit-headers-07).
 * @param appId as the client sent it; the application need not exist
 * @param headers of the response, whether it is a success or an error
 * @throws ApiError TOO_MANY_REQUESTS
 */
export async function countRequest(
  { limits }: Services,
  scope: RateLimitScope,
  appId: string | undefined,
  client: Client,
  headers: Record<string, string>,
): Promise<void> {
  const { limit, remaining, resetSeconds, windowSeconds, exceeded } = await limits.count(
    scope === 'application' ? [scope, appId ?? ''] : [scope],
    client.address,
  );
  headers['RateLimit-Limit'] = String(limit);
  headers['RateLimit-Remaining'] = String(remaining);
  headers['RateLimit-Reset'] = String(resetSeconds);
  headers['RateLimit-Policy'] = `${limit};w=${windowSeconds}`;
  if (!exceeded) return;
  throw new ApiError('TOO_MANY_REQUESTS', {
    detail: `The address has sent more than ${limit} requests within ${windowSeconds} seconds.`,
    retryAfter: resetSeconds,
  });
}
