import { addressBlock, type Client } from '../platform/address.ts';
import { RequestScope } from '../platform/request-scope.ts';
import { discard, type HttpResponse } from './response.ts';

/** Every request is answered within so long, unless the contract gives its operation another limit (`x-time-limit`). */
const DEADLINE_MS = 5_000;

/** The scope of a request that has just arrived. */
export function openScope(client: Client, deadlineMs = DEADLINE_MS): RequestScope {
  return new RequestScope(deadlineMs, () => addressBlock(client.address));
}

/**
 * Runs the work of a request until its response can be written: how long that takes is up to the client.
 * @throws DeadlineExceededError when it is not there in time, and what the work throws
 */
export async function withinDeadline(
  scope: RequestScope,
  work: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const response = scope.run(work);
  try {
    const answered = await scope.race(response);
    scope.lift();
    return answered;
  } catch (error) {
    if (scope.remainingMs > 0) scope.lift();
    // It may still come, with a stream that no client reads.
    void response.then(
      ({ stream }) => stream && discard(stream),
      () => {},
    );
    throw error;
  }
}
