import type { ApiError } from '../../foundation/errors/api-error.ts';
import { openToOrigins } from '../transport/cors.ts';
import { oauthPage, oauthPageHeaders } from './oauth-html.ts';
import { OAUTH_FOR_PROGRAMS } from './oauth-paths.ts';
import type { HttpResponse } from '../transport/response.ts';

/** An error of the service in OAuth terms. */
export interface OAuthFault {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: string;
  readonly description: string;
}

/**
 * Translates an error for a client of the authorization server (RFC 6749, sections 4.1.2.1 and 5.2).
 * @param path of the request
 */
export function oauthFault({ status, retryAfter, detail }: ApiError, path: string): OAuthFault {
  return {
    status,
    headers: {
      'Cache-Control': 'no-store',
      // The library, which otherwise sets these headers, may not have seen the request.
      ...(OAUTH_FOR_PROGRAMS.includes(path) && openToOrigins()),
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
    error: codeOf(status),
    description: detail,
  };
}

/** The response to an error of the authorization server: JSON for programs, a page for people. */
export function oauthErrorResponse(apiError: ApiError, path: string): HttpResponse {
  const { status, headers, error, description } = oauthFault(apiError, path);
  if (OAUTH_FOR_PROGRAMS.includes(path)) {
    return {
      status,
      mediaType: 'application/json',
      body: { error, error_description: description },
      headers,
    };
  }
  const page = { kind: 'error', error, description } as const;
  return {
    status,
    mediaType: 'text/html; charset=utf-8',
    text: oauthPage(page),
    headers: { ...oauthPageHeaders(page), ...headers },
  };
}

function codeOf(status: number): string {
  if (status === 500) return 'server_error';
  return status === 429 || status > 500 ? 'temporarily_unavailable' : 'invalid_request';
}
