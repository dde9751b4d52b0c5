import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { repeatedly } from '../../src/platform/repeatedly.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Lets what is due happen, and time go on. */
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

test('work is done at once, when it is woken, and after its pause', async () => {
  let times = 0;
  const working = repeatedly(
    async () => ((times += 1), false),
    () => {},
    { pauseMs: 100 },
  );
  await pass(0);
  expect(times).toBe(1);
  working.wake();
  await pass(0);
  expect(times).toBe(2);
  await pass(99);
  expect(times).toBe(2);
  await pass(1);
  expect(times).toBe(3);
  await working.stop();
  await pass(1_000);
  expect(times).toBe(3);
});

test('wakes while it rests come together, and what is left is done without a rest', async () => {
  let times = 0;
  let left = 0;
  const working = repeatedly(
    async () => ((times += 1), (left -= 1) > 0),
    () => {},
    { pauseMs: 1_000, restMs: 20 },
  );
  await pass(20);
  expect(times).toBe(1);
  working.wake();
  await pass(0);
  expect(times).toBe(2);
  for (let n = 0; n < 5; n += 1) working.wake();
  await pass(19);
  expect(times).toBe(2);
  await pass(1);
  expect(times).toBe(3);
  await pass(20);
  expect(times).toBe(3);
  left = 3;
  working.wake();
  await pass(0);
  expect(times).toBe(6);
  const stopping = working.stop();
  await pass(20);
  await stopping;
});
