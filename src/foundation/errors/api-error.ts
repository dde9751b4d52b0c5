import { catalog, type ErrorCode } from './catalog.ts';

/** One fault of a request: its location and what is wrong. */
export interface Fault {
  /** JSON Pointer (RFC 6901) into the body, or `query/…` and `path/…` for parameters. */
  readonly pointer: string;
  readonly detail: string;
}

/** The most faults that a response lists. */
export const MOST_FAULTS = 100;

/** The detail of an error that lists faults of members of the request. @param count the number of faults */
export function faultsDetail(count: number): string {
  if (count > MOST_FAULTS) {
    return `More than ${MOST_FAULTS} members of the request are not valid; the first ${MOST_FAULTS} are listed.`;
  }
  return `${count} ${count === 1 ? 'member of the request is' : 'members of the request are'} not valid.`;
}

type StatusOf<Code extends ErrorCode> = (typeof catalog)[Code]['statuses'][number];

export interface ApiErrorOptions<Code extends ErrorCode> {
  /** One of the statuses of the code; the first one by default. */
  readonly status?: StatusOf<Code>;
  /** What is wrong with this request, where the detail in the catalog is too general. */
  readonly detail?: string;
  /** Only the first `MOST_FAULTS` are listed. */
  readonly errors?: readonly Fault[];
  /** After how many seconds to retry. */
  readonly retryAfter?: number;
  /** How to authenticate: the `WWW-Authenticate` header of the response (RFC 9110, section 11.6.1). */
  readonly challenge?: string;
  /** Additional members of the response (RFC 9457, section 3.2). */
  readonly members?: Readonly<Record<string, string | number>>;
  readonly cause?: unknown;
}

/** An error that the client receives as a response, as described in the catalog. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly Fault[] | undefined;
  readonly retryAfter: number | undefined;
  readonly challenge: string | undefined;
  readonly members: Readonly<Record<string, string | number>> | undefined;

  constructor(code: Code, options: ApiErrorOptions<Code> = {}) {
    const detail = options.detail ?? catalog[code].detail;
    super(`${code}: ${detail}`, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = options.status ?? catalog[code].statuses[0];
    this.detail = detail;
    this.errors = options.errors?.slice(0, MOST_FAULTS);
    this.retryAfter = options.retryAfter;
    this.challenge = options.challenge;
    this.members = options.members;
  }
}

/** An error for a member of the body whose value has the right type but is not allowed. */
export function invalidMember(pointer: string, detail: string): ApiError<'VALIDATION_FAILED'> {
  return new ApiError('VALIDATION_FAILED', {
    detail: `${pointer} ${detail}.`,
    errors: [{ pointer, detail }],
  });
}
