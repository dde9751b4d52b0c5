import type { components } from '../../../generated/types.ts';

type ProblemDetails = components['schemas']['ProblemDetails'];

/** A refused or failed request, as the service explains it (RFC 9457). */
export class Problem extends Error {
  readonly details: Partial<ProblemDetails> & { readonly title: string; readonly detail: string };
  /** How long to wait before the request is sent again (RFC 9110, section 10.2.3). */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    details: Problem['details'],
    { retryAfterSeconds, ...options }: ErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    super(details.detail, options);
    this.retryAfterSeconds = retryAfterSeconds;
    this.name = 'Problem';
    this.details = details;
  }

  get status(): number | undefined {
    return this.details.status;
  }

  get code(): string | undefined {
    return this.details.code;
  }

  /** The details of an invalid member of the body, by its name. */
  fieldError(name: string): string | undefined {
    return this.details.errors?.find(({ pointer }) => pointer.replace(/^.*\//, '') === name)?.detail;
  }
}

/** The problem of a response that is no success. */
export async function problemOf(response: Response): Promise<Problem> {
  const requestId = response.headers.get('X-Request-Id');
  const isProblem = response.headers.get('Content-Type')?.includes('json') ?? false;
  const body = isProblem ? ((await response.json().catch(() => ({}))) as Partial<ProblemDetails>) : {};
  const retryAfter = Number(response.headers.get('Retry-After') ?? NaN);
  const details = {
    title: 'Request failed',
    detail: `The service responded with status ${response.status}.`,
    status: response.status,
    ...(requestId !== null && { request_id: requestId }),
    ...body,
  };
  return new Problem(details, Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {});
}

/** The problem of a request that got no response. */
export function unreachable(cause: unknown): Problem {
  return new Problem(
    {
      title: 'Service not reached',
      detail: 'The request got no response.',
      hint: 'Check your connection, then try again.',
    },
    { cause },
  );
}

/** The problem of a request that was not sent, because another account is signed in. */
export function signedOut(): Problem {
  return new Problem({
    title: 'Signed in as another account',
    detail: 'The request was not sent, because this browser is signed in as another account.',
    hint: 'Sign in again, then repeat it.',
  });
}

/** Any error as a problem, for showing it. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({ title: 'Something went wrong', detail, hint: 'Reload the page and try again.' });
}
