import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HELD_BYTES, STORED_BYTES, UploadPace } from '../../src/http/upload-pace.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A part that comes after a time. */
const part = (bytes: number, afterMs: number) =>
  new Promise<IteratorResult<Buffer, undefined>>((resolve) => {
    setTimeout(() => resolve({ done: false, value: Buffer.alloc(bytes) }), afterMs);
  });

/** Asks for parts of one size, one each second, for ten minutes. @returns the first part that is not waited for */
async function secondsAt(pace: UploadPace, bytesASecond: number): Promise<number | undefined> {
  for (let second = 1; second <= 600; second += 1) {
    const next = pace.next(part(bytesASecond, 1_000)).then(
      () => undefined,
      (error: unknown) => error,
    );
    await vi.advanceTimersByTimeAsync(1_000);
    const error = await next;
    if (error === undefined) continue;
    expect(error).toMatchObject({ code: 'REQUEST_TIMEOUT' });
    return second;
  }
  return undefined;
}

// Where a service of an earlier file still runs in this process, its timers go with the ones that are advanced here.
test(
  'what is stored as it comes may come at 1 KiB a second, what is held in memory at 34 times that',
  { timeout: 120_000 },
  async () => {
    expect(await secondsAt(new UploadPace(STORED_BYTES), Math.ceil(STORED_BYTES / 29))).toBeUndefined();
    expect(await secondsAt(new UploadPace(STORED_BYTES), Math.floor(STORED_BYTES / 31))).toBe(31);
    expect(await secondsAt(new UploadPace(HELD_BYTES), Math.ceil(HELD_BYTES / 29))).toBeUndefined();
    expect(await secondsAt(new UploadPace(HELD_BYTES), Math.floor(HELD_BYTES / 31))).toBe(31);
  },
);
