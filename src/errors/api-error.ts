import { catalogue, type ErrorCode } from './catalogue.ts';

/** One fault of a request: where it is and what is wrong. */
export interface Fault {
  /** JSON Pointer (RFC 6901) into the body, or `query/…` and `path/…` for parameters. */
  readonly pointer: string;
  readonly detail: string;
}

/** The most faults that a response lists. */
export const MOST_FAULTS = 100;

/** The detail of an error that lists faults of members of the request. @param count how many there are */
export function faultsDetail(count: number): string {
  if (count > MOST_FAULTS) {
    return `More than ${MOST_FAULTS} members of the request are not valid; the first ${MOST_FAULTS} are listed.`;
  }
  return `${count} ${count === 1 ? 'member of the request is' : 'members of the request are'} not valid.`;
}

type StatusOf<Code extends ErrorCode> = (typeof catalogue)[Code]['statuses'][number];

export interface ApiErrorOptions<Code extends ErrorCode> {
  /** One of the code's statuses; its first one when left out. */
  readonly status?: StatusOf<Code>;
  /** What is wrong with this request, where the catalogue's own words are too general. */
  readonly detail?: string;
  /** Of more than `MOST_FAULTS` the first ones are listed. */
  readonly errors?: readonly Fault[];
  /** Seconds after which a retry is worth it. */
  readonly retryAfter?: number;
  /** How to authenticate instead: the answer's `WWW-Authenticate` (RFC 9110, section 11.6.1). */
  readonly challenge?: string;
  /** Further members of the answer (RFC 9457, section 3.2). */
  readonly members?: Readonly<Record<string, string | number>>;
  readonly cause?: unknown;
}

/** An error that is answered to the client as it stands in the catalogue. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly Fault[] | undefined;
  readonly retryAfter: number | undefined;
  readonly challenge: string | undefined;
  readonly members: Readonly<Record<string, string | number>> | undefined;

  constructor(code: Code, options: ApiErrorOptions<Code> = {}) {
    const detail = options.detail ?? catalogue[code].detail;
    super(`${code}: ${detail}`, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = options.status ?? catalogue[code].statuses[0];
    this.detail = detail;
    this.errors = options.errors?.slice(0, MOST_FAULTS);
    this.retryAfter = options.retryAfter;
    this.challenge = options.challenge;
    this.members = options.members;
  }
}

/** A member of the body has a value that its type allows and the operation does not. */
export function invalidMember(pointer: string, detail: string): ApiError<'VALIDATION_FAILED'> {
  return new ApiError('VALIDATION_FAILED', {
    detail: `${pointer} ${detail}.`,
    errors: [{ pointer, detail }],
  });
}
