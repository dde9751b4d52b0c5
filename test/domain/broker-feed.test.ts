import { expect, onTestFinished, test } from 'vitest';
import type { PublishedEvent, ConsumedEvents } from '../../src/foundation/events/events.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createBrokerFeed } from '../../src/messaging/relay/broker-feed.ts';

const eventOf = (appId: string, position: number): PublishedEvent => ({
  eventId: `evt_${position}`,
  position,
  type: 'application.updated',
  audience: 'application',
  appId,
  userId: null,
  sessionDigest: null,
  data: {},
  createdAt: new Date(0),
});

/** Feeds a broker for some rounds, or until no event is left. @returns the events that were set aside and those left */
async function feed(events: readonly PublishedEvent[], refuses: (topic: string) => unknown, rounds: number) {
  let left = [...events];
  const refused = new Map<string, string>();
  const finished = Promise.withResolvers<void>();
  let woken = () => {};
  const { start } = createBrokerFeed({
    events: {
      async forBroker(take: (some: readonly PublishedEvent[]) => Promise<ConsumedEvents>) {
        const { done, refused: some = new Map<string, string>() } = await take(left);
        for (const [id, reason] of some) refused.set(id, reason);
        left = left.slice(done);
        if ((rounds -= 1) <= 0 || left.length === 0) finished.resolve();
        else setImmediate(() => woken());
        return false;
      },
    },
    sessions: { idsOf: async () => new Map() },
    relay: {
      follow(follower) {
        woken = () => follower(events[0]!);
        return () => {};
      },
    },
    broker: {
      embedded: false,
      async publish(topic) {
        const error = refuses(topic);
        if (error !== undefined) throw error;
      },
      ping: async () => {},
      close: async () => {},
    },
    logger: createLogger('silent'),
  });
  const feeding = await start();
  onTestFinished(() => feeding.stop());
  await finished.promise;
  return { left: left.map(({ eventId }) => eventId), refused };
}

const EVENTS = [eventOf('app_a', 1), eventOf('app_b', 2), eventOf('app_a', 3)];

test('an event with an invalid topic is set aside at once', async () => {
  const { left, refused } = await feed(
    EVENTS,
    (topic) => (topic.includes('app_b') ? new TypeError('no topic') : undefined),
    3,
  );
  expect(left).toEqual([]);
  expect([...refused]).toEqual([['evt_2', 'TypeError: no topic']]);
});

test('an event that the broker refuses while it accepts others is set aside after five attempts', async () => {
  const { left, refused } = await feed(
    EVENTS,
    (topic) => (topic.includes('app_b') ? new Error('too large') : undefined),
    20,
  );
  expect(left).toEqual([]);
  expect([...refused.keys()]).toEqual(['evt_2']);
});

test('while the broker refuses all events, all of them wait', async () => {
  const { left, refused } = await feed(EVENTS, () => new Error('not allowed'), 20);
  expect(left).toEqual(['evt_1', 'evt_2', 'evt_3']);
  expect(refused.size).toBe(0);
});
