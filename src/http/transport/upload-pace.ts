import { ApiError } from '../../foundation/errors/api-error.ts';

/** In each period of this much waiting for the client, … */
const WINDOW_MS = 30_000;
/** … this much of a body that is stored as it arrives must arrive: about 1 KiB a second, … */
export const STORED_BYTES = 32_768;
/** … or this much of one that is buffered in memory, which other uploads may need. */
export const BUFFERED_BYTES = 1_048_576;

/** Measures the waiting time, and ends it. */
export interface Timers {
  /** Milliseconds from an arbitrary start. */
  now(): number;
  /** @returns cancels it */
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
 * The minimum speed of an upload. It may take any time, but each 30 s of waiting for the client must yield a minimum of
 * bytes. Time spent on storing what has arrived does not count.
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
   * @throws ApiError REQUEST_TIMEOUT when it does not arrive in time, and the error of the part
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
