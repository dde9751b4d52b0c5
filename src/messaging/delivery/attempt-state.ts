const SLOW_MS = 3_000;

/** The result of one attempt to deliver. */
export interface AttemptResult {
  readonly attemptedAt: Date;
  readonly durationMs: number;
  /** Null without a response. */
  readonly status: number | null;
  /** The header `Retry-After` as received. */
  readonly retryAfter: string | undefined;
  readonly body: string | null;
  /** Why there is no response, in words. */
  readonly fault: string | null;
}

/** The result of an attempt that received no response. */
export function withoutResponse(attemptedAt: Date, fault: string, durationMs = 0): AttemptResult {
  return { attemptedAt, durationMs, status: null, retryAfter: undefined, body: null, fault };
}

/** Whether the endpoint has accepted the delivery. */
export function isSuccess({ status }: AttemptResult): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Whether the response, or the failure to get one, took long. */
export function isSlow({ durationMs }: AttemptResult): boolean {
  return durationMs >= SLOW_MS;
}

/** Why an attempt failed, in words; null for a success. */
export function errorOf(result: AttemptResult): string | null {
  if (isSuccess(result)) return null;
  const { status, fault } = result;
  if (status === null) return fault;
  return status >= 300 && status < 400
    ? `The response status was ${status}: redirects are not followed.`
    : `The response status was ${status}.`;
}

/** Foreign text without the characters that the database cannot store. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed();
}
