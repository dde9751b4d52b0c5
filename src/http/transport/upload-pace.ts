import { ApiError } from '../../foundation/errors/api-error.ts';

/** Of what is waited for a client, so much may pass until… */
const WINDOW_MS = 30_000;
/** …so much of what is stored as it comes has come: about 1 KiB a second. */
export const STORED_BYTES = 32_768;
/** …or so much of what is buffered in memory that others wait for. */
export const BUFFERED_BYTES = 1_048_576;

/** What tells how long is waited, and ends the waiting. */
export interface Timers {
  /** Milliseconds since some moment. */
  now(): number;
  /** @returns calls it off */
  after(ms: number, work: () => void): () => void;
}

const systemTimers: Timers = {
  now: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * How fast an upload must be. It may take as long as it likes, but each 30 s of waiting for it must bring so many bytes. Time
 * in which nobody waits, because what has come is being stored, does not count.
 */
export class UploadPace {
  readonly #leastBytes: number;
  readonly #timers: Timers;
  #waitedMs = 0;
  #bytes = 0;

  constructor(leastBytes: number, timers: Timers = systemTimers) {
    this.#leastBytes = leastBytes;
    this.#timers = timers;
  }

  /**
   * Waits for the next part of an upload.
   * @throws ApiError REQUEST_TIMEOUT when it does not come, and whatever the part throws
   */
  async next(part: Promise<IteratorResult<Buffer, undefined>>): Promise<IteratorResult<Buffer, undefined>> {
    const began = this.#timers.now();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(tooSlow(this.#leastBytes));
    const callOff = this.#timers.after(WINDOW_MS - this.#waitedMs, giveUp);
    try {
      const result = await Promise.race([part, late]);
      this.#waitedMs += this.#timers.now() - began;
      this.#bytes += result.value?.length ?? 0;
      if (this.#bytes >= this.#leastBytes) this.#waitedMs = this.#bytes = 0;
      return result;
    } finally {
      callOff();
    }
  }
}

function tooSlow(leastBytes: number): ApiError {
  return new ApiError('REQUEST_TIMEOUT', {
    detail: `Less than ${leastBytes / 1024} KiB of the body arrived within ${WINDOW_MS / 1000} seconds.`,
  });
}
