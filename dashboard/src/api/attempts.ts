import { newIdempotencyKey } from '../lib/random.ts';

/** The keys of requests whose effect is not known yet. */
const uncertain = new Map<string, string>();

/** A request that must have one effect, however often it is sent. */
export interface Attempt {
  readonly key: string;
  /** Called with the status of a response. Below 500 the effect is known, and the next request is a new one. */
  readonly settle: (status: number) => void;
}

/**
 * The `Idempotency-Key` of a request. The same request, sent again after a response was lost, has the same key, so that
 * a second click does not charge, credit or extend twice.
 * @param request the method, the address and the body
 */
export function attemptOf(request: string): Attempt {
  const key = uncertain.get(request) ?? newIdempotencyKey();
  uncertain.set(request, key);
  return {
    key,
    settle: (status) => {
      if (status < 500 && status !== 401 && status !== 429) uncertain.delete(request);
    },
  };
}
