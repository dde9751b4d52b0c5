import { ApiError } from '../errors/api-error.ts';
import { createPace } from '../platform/pace.ts';

/** Bytes that are read in one go: some milliseconds, also for the shortest of rows. */
const READ_AT_ONCE = 1_024;

/**
 * The text of an upload, without a byte order mark, a part at a time.
 * @throws ApiError MALFORMED_REQUEST when it is not UTF-8, and what the upload throws
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
  const pace = createPace();
  for await (const part of upload) {
    for (let start = 0; start < part.length; start += READ_AT_ONCE) {
      yield decode(part.subarray(start, start + READ_AT_ONCE));
      await pace();
    }
  }
  yield decode();
}
