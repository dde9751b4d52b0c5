import { ApiError } from '../../foundation/errors/api-error.ts';
import { parseStrictJson, StrictJsonError } from '../../platform/strict-json.ts';

/**
 * Parses the JSON of a body strictly.
 * @param bytes the raw body
 * @throws ApiError MALFORMED_JSON; PAYLOAD_TOO_LARGE when it has more than 128 KiB outside of strings and white space
 */
export function parseJsonBody(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const about = { detail: `The body ${error.message}.`, cause: error };
    if (error.isTooLarge) throw new ApiError('PAYLOAD_TOO_LARGE', about);
    throw new ApiError('MALFORMED_JSON', about);
  }
}
