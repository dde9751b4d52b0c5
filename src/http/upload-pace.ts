import { ApiError } from '../errors/api-error.ts';

/** Of what is waited for a client, so much may pass until… */
const WINDOW_MS = 30_000;
/** …so much has come: about 1 KiB a second. */
const LEAST_BYTES = 32_768;

/**
 * How fast an upload must be. It may take as long as it likes, but each 30 s of waiting for it must bring 32 KiB. Time in which
 * nobody waits, because what has come is being stored, does not count.
 */
export class UploadPace {
  #waitedMs = 0;
  #bytes = 0;

  /**
   * Waits for the next part of an upload.
   * @throws ApiError REQUEST_TIMEOUT when it does not come, and whatever the part throws
   */
  async next(part: Promise<IteratorResult<Buffer, undefined>>): Promise<IteratorResult<Buffer, undefined>> {
    const began = performance.now();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(tooSlow());
    const timer = setTimeout(giveUp, WINDOW_MS - this.#waitedMs);
    try {
      const result = await Promise.race([part, late]);
      this.#waitedMs += performance.now() - began;
      this.#bytes += result.value?.length ?? 0;
      if (this.#bytes >= LEAST_BYTES) this.#waitedMs = this.#bytes = 0;
      return result;
    } finally {
      clearTimeout(timer);
    }
  }
}

function tooSlow(): ApiError {
  return new ApiError('REQUEST_TIMEOUT', {
    detail: `Less than ${LEAST_BYTES / 1024} KiB of the body came within ${WINDOW_MS / 1000} seconds.`,
  });
}
