import { addressBlock, type Client } from '../../platform/address.ts';
import { RequestScope, type DeadlineExceededError } from '../../platform/request-scope.ts';
import { discard, type HttpResponse } from '../transport/response.ts';

/**
 * Every request is answered within 5 s, unless the contract gives its operation another limit (`x-time-limit`). The rest is
 * for noticing the deadline and for writing the response.
 */
const DEADLINE_MS = 4_900;

/** The scope of a request that has just arrived. */
export function openScope(client: Client, deadlineMs = DEADLINE_MS): RequestScope {
  return new RequestScope(deadlineMs, () => addressBlock(client.address));
}

/** What has become of the work of a request. */
export type Outcome = { readonly response: HttpResponse } | { readonly error: unknown };

/**
 * Runs the work of a request until its response can be written: how long that takes is up to the client.
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
      // It may still come, with a stream that no client reads.
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
