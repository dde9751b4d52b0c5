import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRealtime } from '../../src/realtime/realtime.ts';
import { createSlices, SLICE } from '../../src/platform/slices.ts';

const MANY = 8 * SLICE;
const NOON = new Date('2026-11-22T12:00:00Z');

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** Many sessions that listen, and how often something has been said to any of them. */
async function listen() {
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
  let said = 0;
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
    stream.on('data', () => (said += 1)).once('end', () => ended.add(place));
  }
  await nextTurn();
  said = 0;
  return {
    running,
    passTo: (time: Date) => (now = time),
    ended,
    /** @returns the most that was said or ended in one turn until all have heard it */
    async mostInATurn(count: () => number): Promise<number> {
      let most = 0;
      for (let before = 0, turns = 0; before < MANY && turns < 1_000; turns += 1) {
        const after = count();
        most = Math.max(most, after - before);
        before = after;
        await nextTurn();
      }
      expect(count()).toBe(MANY);
      return most;
    },
    said: () => said,
  };
}

test('thousands of sessions that expire at once are told in slices', async () => {
  const { running, passTo, mostInATurn, said, ended } = await listen();
  passTo(new Date(NOON.getTime() + 60_000));
  vi.advanceTimersByTime(250);
  expect(await mostInATurn(said)).toBeLessThanOrEqual(2 * SLICE);
  await expect.poll(() => ended.size).toBe(MANY);
  await running.stop();
});

test('the beats of streams that were opened at once are sent in slices', async () => {
  const { running, mostInATurn, said } = await listen();
  vi.advanceTimersByTime(15_000);
  expect(await mostInATurn(said)).toBeLessThanOrEqual(2 * SLICE);
  await running.stop();
});

test('the streams of a node that stops end in slices', async () => {
  const { running, mostInATurn, ended } = await listen();
  const stopped = running.stop();
  expect(await mostInATurn(() => ended.size)).toBeLessThanOrEqual(2 * SLICE);
  await stopped;
});

test('calls that follow each other share their slices', async () => {
  const inSlices = createSlices();
  let done = 0;
  const calls = (async () => {
    for (let call = 0; call < 100; call += 1) await inSlices([1, 2, 3], () => (done += 1));
  })();
  for (let before = 0; done < 300; before = done) {
    await nextTurn();
    expect(done - before).toBeLessThanOrEqual(2 * SLICE);
  }
  await calls;
});
