import { expect, test } from 'vitest';
import {
  BUFFERED_BYTES,
  STORED_BYTES,
  UploadPace,
  type Timers,
} from '../../src/http/transport/upload-pace.ts';

/** Separate timers, because fake timers of the process would affect everything else in it. */
class TestTimers implements Timers {
  #now = 0;
  #waiting: { readonly at: number; readonly work: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, work: () => void): () => void {
    const timer = { at: this.#now + ms, work };
    this.#waiting.push(timer);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== timer);
    };
  }

  /** Advances, and calls what is due in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    const due = this.#waiting.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
    this.#waiting = this.#waiting.filter(({ at }) => at > end);
    for (const { at, work } of due) {
      this.#now = at;
      work();
    }
    this.#now = end;
  }
}

/** Reads parts of one size every second for ten minutes. @returns the first part that times out */
async function secondsAt(leastBytes: number, bytesASecond: number): Promise<number | undefined> {
  const timers = new TestTimers();
  const pace = new UploadPace(leastBytes, timers);
  for (let second = 1; second <= 600; second += 1) {
    const { promise: part, resolve } = Promise.withResolvers<IteratorResult<Buffer, undefined>>();
    timers.after(1_000, () => resolve({ done: false, value: Buffer.alloc(bytesASecond) }));
    const next = pace.next(part).then(
      () => undefined,
      (error: unknown) => error,
    );
    timers.advance(1_000);
    const error = await next;
    if (error === undefined) continue;
    expect(error).toMatchObject({ code: 'REQUEST_TIMEOUT' });
    return second;
  }
  return undefined;
}

test('stored uploads may arrive at 1 KiB a second, buffered ones need 34 times that', async () => {
  expect(await secondsAt(STORED_BYTES, Math.ceil(STORED_BYTES / 29))).toBeUndefined();
  expect(await secondsAt(STORED_BYTES, Math.floor(STORED_BYTES / 31))).toBe(31);
  expect(await secondsAt(BUFFERED_BYTES, Math.ceil(BUFFERED_BYTES / 29))).toBeUndefined();
  expect(await secondsAt(BUFFERED_BYTES, Math.floor(BUFFERED_BYTES / 31))).toBe(31);
});
