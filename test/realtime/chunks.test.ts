import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRealtime } from '../../src/messaging/realtime/realtime.ts';
import { createForEachInChunks, CHUNK_SIZE } from '../../src/platform/chunks.ts';

const MANY = 8 * CHUNK_SIZE;
const NOON = new Date('2026-11-22T12:00:00Z');

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** Many connected sessions, and how many messages they receive. */
async function connect() {
  let now = NOON;
  const realtime = createRealtime({
    applications: {} as never,
    sessions: { recheck: async () => {}, recheckAll: async () => [] } as never,
    bans: {} as never,
    events: { anchorOf: async () => undefined, ofSession: async () => [] } as never,
    relay: { follow: () => () => {}, position: () => 0 },
    mqtt: { accept: () => {}, close: async () => {} },
    capacity: MANY,
    clock: { now: () => now },
    logger: { debug: () => {}, error: () => {} } as never,
  });
  const running = realtime.start();
  let sent = 0;
  const ended = new Set<number>();
  for (let place = 0; place < MANY; place += 1) {
    const session = {
      appId: 'app_1',
      userId: `usr_${place}`,
      sessionDigest: Buffer.from([place >> 8, place & 255]),
      subscription: { status: 'none' },
      expiresAt: new Date(NOON.getTime() + 60_000),
    } as never;
    const stream = await realtime.streamOfSession(session, { address: '192.0.2.1' }, undefined);
    stream.on('data', () => (sent += 1)).once('end', () => ended.add(place));
  }
  await nextIteration();
  sent = 0;
  return {
    running,
    setTime: (time: Date) => (now = time),
    ended,
    /** @returns the largest number in one iteration of the event loop until all are done */
    async mostPerIteration(count: () => number): Promise<number> {
      let most = 0;
      for (let before = 0, iterations = 0; before < MANY && iterations < 1_000; iterations += 1) {
        const after = count();
        most = Math.max(most, after - before);
        before = after;
        await nextIteration();
      }
      expect(count()).toBe(MANY);
      return most;
    },
    sent: () => sent,
  };
}

test('thousands of sessions that expire at once are notified in chunks', async () => {
  const { running, setTime, mostPerIteration, sent, ended } = await connect();
  setTime(new Date(NOON.getTime() + 60_000));
  vi.advanceTimersByTime(250);
  expect(await mostPerIteration(sent)).toBeLessThanOrEqual(2 * CHUNK_SIZE);
  await expect.poll(() => ended.size).toBe(MANY);
  await running.stop();
});

test('the heartbeats of streams that were opened at once are sent in chunks', async () => {
  const { running, mostPerIteration, sent } = await connect();
  vi.advanceTimersByTime(15_000);
  expect(await mostPerIteration(sent)).toBeLessThanOrEqual(2 * CHUNK_SIZE);
  await running.stop();
});

test('the streams of a node that stops end in chunks', async () => {
  const { running, mostPerIteration, ended } = await connect();
  const stopped = running.stop();
  expect(await mostPerIteration(() => ended.size)).toBeLessThanOrEqual(2 * CHUNK_SIZE);
  await stopped;
});

test('consecutive calls share their chunks', async () => {
  const forEachInChunks = createForEachInChunks();
  let done = 0;
  const calls = (async () => {
    for (let call = 0; call < 100; call += 1) await forEachInChunks([1, 2, 3], () => (done += 1));
  })();
  for (let before = 0; done < 300; before = done) {
    await nextIteration();
    expect(done - before).toBeLessThanOrEqual(2 * CHUNK_SIZE);
  }
  await calls;
});
