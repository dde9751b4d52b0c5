import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { readFormBody, readJsonBody } from '../transport/request-body.ts';
import { searchOf } from '../transport/target.ts';

/** As much as the library of the authorization server accepts. */
const LIMIT = 56 * 1024;
const REGISTRATION_PATH = '/oauth/register';

/** More than any valid request has; the library's processing time grows with the square of the count. */
const MOST_PARAMETERS = 100;

/** @throws ApiError MALFORMED_REQUEST when the query has more parameters than are read */
export function assertShortQuery(request: IncomingMessage): void {
  if (searchOf(request).split('&', MOST_PARAMETERS + 1).length <= MOST_PARAMETERS) return;
  throw new ApiError('MALFORMED_REQUEST', {
    detail: `The query has more than ${MOST_PARAMETERS} parameters.`,
  });
}

/**
 * Reads the body of a request to the authorization server as strictly as that of an operation, and passes on its bytes:
 * a body that two parsers could read differently never reaches the library.
 * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON, MALFORMED_REQUEST
 */
export async function readOAuthBody(request: IncomingMessage, path: string): Promise<void> {
  if (request.method !== 'POST') return;
  const { bytes } =
    path === REGISTRATION_PATH ? await readJsonBody(request, LIMIT) : await readFormBody(request, LIMIT);
  if (bytes.length === 0) return;
  // The library reads from the request's stream, which has already ended.
  async function* again() {
    yield bytes;
  }
  Object.defineProperties(request, {
    readable: { value: true },
    iterator: { value: again },
  });
}
