import pLimit from 'p-limit';
import { ApiError } from '../errors/api-error.ts';

/**
 * Work on many users at once: one piece of a developer's at a time, and one in all of this process, so that nobody keeps the
 * others out.
 * @throws ApiError TOO_MANY_REQUESTS when the developer has another one under way
 */
export type OneAtATime = <Result>(developerId: string, work: () => Promise<Result>) => Promise<Result>;

export function createOneAtATime(): OneAtATime {
  const limit = pLimit(1);
  const busy = new Set<string>();
  return async (developerId, work) => {
    if (busy.has(developerId)) {
      throw new ApiError('TOO_MANY_REQUESTS', {
        detail: 'You have another change of many users under way.',
        retryAfter: 1,
      });
    }
    busy.add(developerId);
    try {
      return await limit(work);
    } finally {
      busy.delete(developerId);
    }
  };
}
