import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startPeriodicTask } from '../../src/platform/periodic-task.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Advances the time and runs what is due. */
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

test('work runs at once, when it is woken, and after the interval', async () => {
  let times = 0;
  const task = startPeriodicTask(
    async () => ((times += 1), false),
    () => {},
    { intervalMs: 100 },
  );
  await pass(0);
  expect(times).toBe(1);
  task.wake();
  await pass(0);
  expect(times).toBe(2);
  await pass(99);
  expect(times).toBe(2);
  await pass(1);
  expect(times).toBe(3);
  await task.stop();
  await pass(1_000);
  expect(times).toBe(3);
});

test('wakes during the minimum pause cause one run, and remaining work runs without a pause', async () => {
  let times = 0;
  let left = 0;
  const task = startPeriodicTask(
    async () => ((times += 1), (left -= 1) > 0),
    () => {},
    { intervalMs: 1_000, minPauseMs: 20 },
  );
  await pass(20);
  expect(times).toBe(1);
  task.wake();
  await pass(0);
  expect(times).toBe(2);
  for (let n = 0; n < 5; n += 1) task.wake();
  await pass(19);
  expect(times).toBe(2);
  await pass(1);
  expect(times).toBe(3);
  await pass(20);
  expect(times).toBe(3);
  left = 3;
  task.wake();
  await pass(0);
  expect(times).toBe(6);
  const stopping = task.stop();
  await pass(20);
  await stopping;
});
