import { ApiError } from '../errors/api-error.ts';
import { createCooperativeYield } from '../../platform/cooperative-yield.ts';

/** How many bytes are decoded at once: a few milliseconds of work, even with the shortest rows. */
const READ_AT_ONCE = 1_024;

/**
 * Decodes an upload part by part, without a byte order mark.
 * @throws ApiError MALFORMED_REQUEST when it is not UTF-8, and errors of the upload itself
 */
export async function* textOf(
  upload: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw new ApiError('MALFORMED_REQUEST', { detail: 'The body is not valid UTF-8.', cause });
    }
  };
  const yieldIfDue = createCooperativeYield();
  for await (const part of upload) {
    for (let start = 0; start < part.length; start += READ_AT_ONCE) {
      yield decode(part.subarray(start, start + READ_AT_ONCE));
      await yieldIfDue();
    }
  }
  yield decode();
}
