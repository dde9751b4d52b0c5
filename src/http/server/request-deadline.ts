import { addressBlock, type Client } from '../../platform/address.ts';
import { RequestScope, type DeadlineExceededError } from '../../platform/request-scope.ts';
import { discard, type HttpResponse } from '../transport/response.ts';

/**
 * Every request gets a response within 5 s, unless the contract gives its operation another limit (`x-time-limit`). The
 * remainder is for detecting the deadline and writing the response.
 */
const DEADLINE_MS = 4_900;

/** The scope of a request that has just arrived. */
export function openScope(client: Client, deadlineMs = DEADLINE_MS): RequestScope {
  return new RequestScope(deadlineMs, () => addressBlock(client.address));
}

/** The result of the work for a request. */
export type Outcome = { readonly response: HttpResponse } | { readonly error: unknown };

/**
 * Runs the work for a request until its response can be written. The time to write it depends on the client, and is not
 * limited.
 * @param respond is called once, with the outcome of the work or at the deadline, and must not throw
 */
export function respondInTime(
  scope: RequestScope,
  work: () => Promise<HttpResponse>,
  respond: (outcome: Outcome) => void,
): void {
  let isLate = false;
  scope.onDeadline((error: DeadlineExceededError) => {
    isLate = true;
    respond({ error });
  });
  scope.run(work).then(
    (response) => {
      // A late response may have a stream that no client reads.
      if (isLate) return response.stream && discard(response.stream).catch(() => {});
      scope.lift();
      respond({ response });
    },
    (error: unknown) => {
      if (isLate) return;
      scope.lift();
      respond({ error });
    },
  );
}
