import { ApiError } from '../errors/api-error.ts';
import { parseStrictJson, StrictJsonError } from '../platform/strict-json.ts';

/**
 * Parses the JSON of a body strictly.
 * @param bytes the raw body
 * @throws ApiError MALFORMED_JSON; PAYLOAD_TOO_LARGE when it has more than 128 KiB outside of its strings, white space
 *   aside
 */
export function parseJsonBody(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const code = error.isTooLarge ? 'PAYLOAD_TOO_LARGE' : 'MALFORMED_JSON';
    throw new ApiError(code, { detail: `The body ${error.message}.`, cause: error });
  }
}
