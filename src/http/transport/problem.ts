import Negotiator from 'negotiator';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { catalog, errorSlug, type CatalogEntry } from '../../foundation/errors/catalog.ts';
import { isUnavailable, isUnstorableInput } from '../../platform/database/index.ts';
import { DeadlineExceededError } from '../../platform/request-scope.ts';
import type { HttpResponse } from './response.ts';

export const PROBLEM_JSON = 'application/problem+json';
/** The legacy error model, for clients that request it by name. */
export const LEGACY_ERROR_JSON = 'application/vnd.latchkey.legacy-error+json';

/** What an error response contains besides the error. */
export interface ProblemContext {
  readonly accept: string | undefined;
  /** The path of the request. */
  readonly instance: string;
  readonly requestId: string;
  readonly timestamp: Date;
  readonly webUrl: string;
  /** The address of the metadata of the requested resource (RFC 9728). */
  readonly resourceMetadata: () => string;
  /** Whether the request has a bearer token. */
  readonly hasToken: boolean;
  /** The scopes that a client should request first, where the resource names them (RFC 6750, section 3). */
  readonly scope?: string | undefined;
}

/** The error to respond with: a lost database connection is a 503, an unexpected error a 500. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DeadlineExceededError) {
    return new ApiError('SERVICE_UNAVAILABLE', {
      detail: 'The request did not finish within its time limit.',
      retryAfter: 1,
      cause: error,
    });
  }
  if (isUnavailable(error)) return new ApiError('SERVICE_UNAVAILABLE', { retryAfter: 1, cause: error });
  if (isUnstorableInput(error)) {
    return new ApiError('VALIDATION_FAILED', { detail: 'A value cannot be stored exactly.', cause: error });
  }
  return new ApiError('INTERNAL_ERROR', { cause: error });
}

/**
 * The response to an error: problem details (RFC 9457), or the legacy model for a client that requests it by name.
 */
export function problemResponse(error: ApiError, context: ProblemContext): HttpResponse {
  const entry: CatalogEntry = catalog[error.code];
  const page = `${context.webUrl}/errors/${errorSlug(error.code)}`;
  const type = entry.type ?? page;
  const hint = { hint: entry.hint, docs_url: page };
  const trace = {
    timestamp: context.timestamp.toISOString(),
    request_id: context.requestId,
    ...error.members,
    ...(error.errors && { errors: error.errors }),
  };
  const headers: Record<string, string> = {};
  if (error.retryAfter !== undefined) headers['Retry-After'] = String(error.retryAfter);
  const challenge = error.challenge ?? bearerChallenge(error, context);
  if (challenge !== undefined) headers['WWW-Authenticate'] = challenge;
  if (error.code === 'RANGE_NOT_SATISFIABLE') headers['Content-Range'] = `bytes */${error.members?.['size']}`;

  if (!prefersLegacy(context.accept)) {
    const body = {
      type,
      title: entry.title,
      status: error.status,
      detail: error.detail,
      instance: context.instance,
      code: error.code,
      ...hint,
      ...trace,
    };
    return { status: error.status, mediaType: PROBLEM_JSON, body, headers };
  }
  const body = {
    status: error.status < 500 ? 'fail' : 'error',
    error: error.code,
    code: error.status,
    message: error.detail,
    ...hint,
    type,
  };
  // The model's own members replace protocol members of the same name, such as `error`.
  return { status: error.status, mediaType: LEGACY_ERROR_JSON, body: { ...trace, ...body }, headers };
}

/** The challenge of every 401, and of a token without the required scope (RFC 6750, section 3). */
function bearerChallenge(
  error: ApiError,
  { resourceMetadata, hasToken, scope }: ProblemContext,
): string | undefined {
  if (error.status !== 401 && error.code !== 'INSUFFICIENT_SCOPE') return undefined;
  const parameters = { realm: 'latchkey', resource_metadata: resourceMetadata() };
  if (error.code === 'INSUFFICIENT_SCOPE') {
    return bearer({ ...parameters, error: 'insufficient_scope', scope: String(error.members?.['scope']) });
  }
  const isInvalid = error.code === 'UNAUTHORIZED' && hasToken;
  return bearer({
    ...parameters,
    ...(isInvalid && { error: 'invalid_token' }),
    ...(scope !== undefined && { scope }),
  });
}

function bearer(parameters: Readonly<Record<string, string>>): string {
  return `Bearer ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}

/** A wildcard never selects the legacy model. */
function prefersLegacy(accept = ''): boolean {
  if (!accept.toLowerCase().includes(LEGACY_ERROR_JSON)) return false;
  // Parameters such as a charset do not make it another type; q is the weight.
  const types = accept.replace(/;(?!\s*q=)[^,;]*/gi, '');
  const [first] = new Negotiator({ headers: { accept: types } }).mediaTypes([
    PROBLEM_JSON,
    LEGACY_ERROR_JSON,
  ]);
  return first === LEGACY_ERROR_JSON;
}
