import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createConcurrencyLimit } from '../../src/platform/concurrency-limit.ts';
import { DeadlineExceededError, RequestScope } from '../../src/platform/request-scope.ts';

const refusal = (why: string) => new Error(why);

/** Work that lasts until `end` is called. */
function createWork() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    of: (name: string) => () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    },
    async end(name: string) {
      ends.get(name)!();
      await nextIteration();
    },
  };
}

test('keys alternate, regardless of how much each has in the queue', async () => {
  const limit = createConcurrencyLimit({ limit: 2, refusal });
  const work = createWork();
  for (const n of [1, 2, 3, 4]) void limit.run('a', work.of(`a${n}`));
  for (const n of [1, 2]) void limit.run('b', work.of(`b${n}`));
  void limit.run('c', work.of('c1'));
  await nextIteration();
  expect(limit.load()).toEqual({ running: 2, waiting: 5 });
  const expected = ['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'a4'];
  for (const name of expected) {
    await nextIteration();
    await work.end(name);
  }
  expect(work.started).toEqual(expected);
  expect(limit.load()).toEqual({ running: 0, waiting: 0 });
});

test('one key never uses all the capacity, and others start at once despite its queue', async () => {
  const limit = createConcurrencyLimit({ limit: 5, limitPerKey: 3, refusal });
  const work = createWork();
  for (let n = 1; n <= 8; n += 1) void limit.run('bulk', work.of(`bulk${n}`));
  void limit.run('other', work.of('other'));
  await nextIteration();
  expect(work.started).toEqual(['bulk1', 'bulk2', 'bulk3', 'other']);
  expect(limit.load('bulk')).toEqual({ running: 3, waiting: 5 });
  await work.end('other');
  expect(work.started).toHaveLength(4);
});

test('work beyond the queue is refused at once, by key and in total', async () => {
  const limit = createConcurrencyLimit({ limit: 1, queuePerKey: 1, queue: 2, refusal });
  const work = createWork();
  void limit.run('a', work.of('a1'));
  void limit.run('a', work.of('a2'));
  await expect(limit.run('a', work.of('a3'))).rejects.toThrow('key');
  void limit.run('b', work.of('b1'));
  await expect(limit.run('c', work.of('c1'))).rejects.toThrow('total');
  await work.end('a1');
  expect(work.started).toEqual(['a1', 'a2']);
  expect(limit.load()).toEqual({ running: 1, waiting: 1 });
});

test('a failure releases the slot', async () => {
  const limit = createConcurrencyLimit({ limit: 1, refusal });
  await expect(limit.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await limit.run('a', async () => 'done')).toBe('done');
  const release = await limit.acquire('a');
  release();
  release();
  expect(limit.load()).toEqual({ running: 0, waiting: 0 });
});

test('a slot that must be free at once is acquired or refused', () => {
  const limit = createConcurrencyLimit({ limit: 2, limitPerKey: 1, refusal });
  const release = limit.acquireNow('a');
  expect(() => limit.acquireNow('a')).toThrow('key');
  limit.acquireNow('b');
  expect(() => limit.acquireNow('c')).toThrow('total');
  release();
  release();
  expect(limit.load()).toEqual({ running: 1, waiting: 0 });
  limit.acquireNow('c');
  expect(() => limit.acquireNow('a')).toThrow('total');
});

test('a key that waits for its own limit does not use the capacity of others', async () => {
  const limit = createConcurrencyLimit({ limit: 2, limitPerKey: 1, refusal });
  const work = createWork();
  void limit.run('a', work.of('a1'));
  void limit.run('a', work.of('a2'));
  void limit.run('b', work.of('b1'));
  await nextIteration();
  expect(work.started).toEqual(['a1', 'b1']);
  await work.end('b1');
  expect(work.started).toEqual(['a1', 'b1']);
  await work.end('a1');
  expect(work.started).toEqual(['a1', 'b1', 'a2']);
});

// The scope measures by performance.now(), which these timers fake as well.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('waiting ends with the time limit, and with the deadline of the request', async () => {
  const limit = createConcurrencyLimit({ limit: 1, maxWaitMs: 1_000, refusal });
  const never = new Promise<never>(() => {});
  void limit.run('a', () => never);
  const timedOut = expect(limit.run('b', () => never)).rejects.toThrow('timeout');
  const scope = new RequestScope(500, () => 'c');
  const late = expect(scope.run(() => limit.run('c', () => never))).rejects.toThrow(DeadlineExceededError);
  await vi.advanceTimersByTimeAsync(501);
  await late;
  expect(limit.load()).toEqual({ running: 1, waiting: 1 });
  await vi.advanceTimersByTimeAsync(500);
  await timedOut;
  expect(limit.load()).toEqual({ running: 1, waiting: 0 });
  // Nothing starts for a request whose deadline has passed.
  await expect(scope.run(() => limit.run('d', async () => {}))).rejects.toThrow(DeadlineExceededError);
});

test('the deadline does not count waits for the client, can be changed, and is lifted for good', async () => {
  const scope = new RequestScope(1_000, () => 'tenant');
  const { promise: body, resolve } = Promise.withResolvers<void>();
  const reading = scope.excluding(body);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(scope.remainingMs).toBe(1_000);
  resolve();
  await reading;
  await vi.advanceTimersByTimeAsync(999);
  expect(scope.remainingMs).toBe(1);
  scope.assertTime();
  const lost = expect(scope.race(new Promise(() => {}))).rejects.toThrow(DeadlineExceededError);
  await vi.advanceTimersByTimeAsync(1);
  await lost;
  expect(() => scope.assertTime()).toThrow(DeadlineExceededError);
  // Too late.
  scope.lift();
  scope.limit(60_000);
  expect(scope.remainingMs).toBe(0);

  const long = new RequestScope(1_000, () => 'tenant');
  long.limit(60_000);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(long.remainingMs).toBe(58_000);
  long.lift();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(long.remainingMs).toBe(Infinity);
});
