import type { IncomingMessage } from 'node:http';
import { readFormBody, readJsonBody } from './request-body.ts';

/** As much as the library of the authorization server takes. */
const LIMIT = 56 * 1024;
const REGISTRATION_PATH = '/oauth/register';

/**
 * Reads the body of a request to the authorization server as strictly as that of an operation, and hands its bytes on: what
 * two parsers could read differently never reaches the library.
 * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON, MALFORMED_REQUEST
 */
export async function readOAuthBody(request: IncomingMessage, path: string): Promise<void> {
  if (request.method !== 'POST') return;
  const { bytes } =
    path === REGISTRATION_PATH ? await readJsonBody(request, LIMIT) : await readFormBody(request, LIMIT);
  if (bytes.length === 0) return;
  // The library reads the stream of a request, which is at its end.
  async function* again() {
    yield bytes;
  }
  Object.defineProperties(request, {
    readable: { value: true },
    iterator: { value: again },
  });
}
