import { ApiError } from '../errors/api-error.ts';

/** Generations of one reseller that run at once: more would only wait for each other, on connections that others need. */
const AT_ONCE = 2;

/**
 * A reseller who asks for more at once than he may is refused: nobody else waits for his requests.
 * @returns runs a generation of a reseller; it throws ApiError TOO_MANY_REQUESTS, and what the generation throws
 */
export function createGenerationTurns() {
  const underWay = new Map<string, number>();

  return async function limited<Result>(resellerId: string, work: () => Promise<Result>): Promise<Result> {
    const running = underWay.get(resellerId) ?? 0;
    if (running >= AT_ONCE) {
      throw new ApiError('TOO_MANY_REQUESTS', {
        detail: `You have ${running} other generations under way.`,
        retryAfter: 1,
      });
    }
    underWay.set(resellerId, running + 1);
    try {
      return await work();
    } finally {
      const left = underWay.get(resellerId)! - 1;
      if (left > 0) underWay.set(resellerId, left);
      else underWay.delete(resellerId);
    }
  };
}
