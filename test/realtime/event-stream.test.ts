import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { PublishedEvent } from '../../src/foundation/events/events.ts';
import { EventStream } from '../../src/messaging/realtime/event-stream.ts';
import { newApp, newSession } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const MOST_IN_MEMORY = 400 * 1024;

/** A growing log, and reads of it for a stream that is offered new events. */
function createLog(length: number, padding = '') {
  const events: PublishedEvent[] = [];
  const append = (): PublishedEvent => {
    const position = events.length + 1;
    const event: PublishedEvent = {
      eventId: `evt_${position}`,
      position,
      type: 'application.updated',
      audience: 'application',
      appId: 'app_1',
      userId: null,
      sessionDigest: null,
      data: { padding },
      createdAt: new Date(0),
    };
    events.push(event);
    return event;
  };
  for (let n = 0; n < length; n += 1) append();
  let reads = 0;
  const read = async (position: number, limit: number) => {
    reads += 1;
    // Events can be appended between the query and its result.
    const found = events.slice(position, position + limit);
    await turn();
    return found;
  };
  return { events, append, read, reads: () => reads };
}

const idsIn = (text: string) => [...text.matchAll(/^id: evt_(\d+)$/gm)].map(([, id]) => Number(id));
const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);

test('old and new events join without gap or repetition', async () => {
  const log = createLog(1_000);
  const stream = new EventStream({ start: { position: 0, eventId: undefined }, read: log.read });
  let text = '';
  stream.on('data', (part: string) => (text += part));
  for (let n = 0; n < 500; n += 1) {
    stream.offer(log.append(), false);
    if (n % 7 === 0) await turn();
  }
  await expect.poll(() => idsIn(text).length).toBe(1_500);
  expect(idsIn(text)).toEqual(upTo(1_500));
  stream.destroy();
});

test('events that do not fit while a page is read are read later', async () => {
  const log = createLog(5);
  const gate = Promise.withResolvers<void>();
  const stream = new EventStream({
    start: { position: 0, eventId: 'evt_0' },
    read: async (position, limit) => {
      const found = await log.read(position, limit);
      await gate.promise;
      return found;
    },
  });
  let text = '';
  stream.on('data', (part: string) => (text += part));
  await expect.poll(log.reads).toBe(1);
  for (let n = 0; n < 3_000; n += 1) stream.offer(log.append(), false);
  gate.resolve();
  await expect.poll(() => idsIn(text).length).toBe(3_006);
  expect(idsIn(text).slice(1)).toEqual(upTo(3_005));
  stream.destroy();
});

test('for a slow client, few events wait in memory and none is lost', async () => {
  const log = createLog(0, 'x'.repeat(2_000));
  const stream = new EventStream({ start: { position: 0, eventId: undefined }, read: log.read });
  let text = String(stream.read());
  await turn();
  await turn();
  for (let n = 0; n < 2_000; n += 1) stream.offer(log.append(), false);
  expect(stream.readableLength).toBeLessThan(MOST_IN_MEMORY);
  for await (const part of stream) {
    text += part as string;
    expect(stream.readableLength).toBeLessThan(MOST_IN_MEMORY);
    if (idsIn(text.slice(-3_000)).at(-1) === 2_000) break;
    await turn();
  }
  expect(idsIn(text)).toEqual(upTo(2_000));
});

test('the last event ends the stream, also if it still has to be read', async () => {
  const log = createLog(250);
  const stream = new EventStream({ start: { position: 0, eventId: undefined }, read: log.read });
  stream.offer(log.append(), true);
  log.append();
  let text = '';
  for await (const part of stream) text += part as string;
  expect(idsIn(text)).toEqual(upTo(251));
});

test('a heartbeat is a comment, and a client that reads nothing for three of them is disconnected', async () => {
  const log = createLog(0);
  const stream = new EventStream({ start: { position: 0, eventId: undefined }, read: log.read });
  let text = '';
  stream.on('data', (part: string) => (text += part));
  await expect.poll(log.reads).toBe(1);
  await turn();
  for (let n = 0; n < 5; n += 1) {
    stream.heartbeat();
    await turn();
  }
  expect(text).toBe('retry: 1000\n\n' + ':\n\n'.repeat(5));
  stream.pause();
  stream.offer(log.append(), false);
  for (let n = 0; n < 3; n += 1) stream.heartbeat();
  expect(stream.destroyed).toBe(false);
  stream.heartbeat();
  expect(stream.destroyed).toBe(true);
});

test('a session that ends before its stream starts gets no stream, and leaves nothing behind', async () => {
  const { api, services } = await startTestService();
  const app = await newApp(api);
  const session = await newSession(api, app);
  const client = { address: '127.0.0.1' };
  const identity = await services.sessions.identify(session.token, client);
  await api.logout({ app_id: app.app_id, token: session.token });
  for (let n = 0; n < 7; n += 1) {
    await expect(services.realtime.streamOfSession(identity, client, undefined)).rejects.toMatchObject({
      code: 'SESSION_INVALID',
    });
  }
  expect(services.realtime.connected()).toEqual({ streams: 0, mqtt: 0 });
});

test('a session that is rechecked after its end receives the event of the end, not a refusal', async () => {
  const { createSessionRechecks } = await import('../../src/messaging/realtime/session-rechecks.ts');
  const { createListeners } = await import('../../src/messaging/realtime/listeners.ts');
  const { ApiError } = await import('../../src/foundation/errors/api-error.ts');
  const listeners = createListeners();
  const listener = {
    session: { appId: 'app_1', userId: 'usr_1', sessionDigest: Buffer.alloc(32) } as never,
    client: { address: '127.0.0.1' },
    offer: () => {},
    finish: () => {},
  };
  listeners.addSession(listener);
  const outcomes = [
    new Error('the database is unavailable'),
    new ApiError('SESSION_INVALID'),
    new ApiError('VPN_BLOCKED'),
  ];
  const refused: string[] = [];
  const rechecks = createSessionRechecks({
    listeners,
    bans: { find: async () => undefined },
    sessions: {
      recheckAll: async () => {
        const outcome = outcomes.shift() ?? new Error('rechecked too often');
        if (!(outcome instanceof ApiError)) throw outcome;
        return [outcome];
      },
    },
    refuse: (_listener, code) => refused.push(code),
    logger: { debug: () => {} } as never,
  });
  const rechecking = rechecks.start();
  await rechecks.deliverAndRecheck([listener], () => {});
  // Rechecked after the failure: the end of a session is not a refusal.
  await expect.poll(() => outcomes.length).toBe(1);
  expect(refused).toEqual([]);
  await rechecks.deliverAndRecheck([listener], () => {});
  await expect.poll(() => refused).toEqual(['VPN_BLOCKED']);
  await rechecking.stop();
});

test('only the connected sessions of a user whose subscription is reduced or has ended are rechecked', async () => {
  const { createSessionRechecks } = await import('../../src/messaging/realtime/session-rechecks.ts');
  const { createListeners } = await import('../../src/messaging/realtime/listeners.ts');
  const listeners = createListeners();
  const until = (ms: number) => ({ status: 'active', tier: 'Pro', expiresAt: new Date(ms) }) as const;
  const add = (place: number, userId: string, subscription: object) =>
    listeners.addSession({
      session: { appId: 'app_1', userId, sessionDigest: Buffer.alloc(32, place), subscription } as never,
      client: { address: '127.0.0.1' },
      offer: () => {},
      finish: () => {},
    });
  add(1, 'usr_1', until(1_000));
  add(2, 'usr_1', until(1_000));
  add(3, 'usr_2', until(2_000));
  add(4, 'usr_3', { status: 'none' });
  const rechecked: number[] = [];
  const rechecks = createSessionRechecks({
    listeners,
    bans: { find: async () => undefined },
    sessions: {
      recheckAll: async (listening) => {
        rechecked.push(...listening.map(({ sessionDigest }) => sessionDigest[0]!));
        return listening.map(() => ({ subscription: until(3_000) }) as never);
      },
    },
    refuse: () => {},
    logger: { debug: () => {} } as never,
  });
  const rechecking = rechecks.start();
  const expectRechecked = async (...places: number[]) => {
    await expect.poll(() => rechecked.toSorted()).toEqual(places);
    rechecked.length = 0;
  };
  const event = createLog(1).events[0]!;
  rechecks.schedule({ ...event, type: 'user.subscription_reduced', audience: 'user', userId: 'usr_1' });
  await expectRechecked(1, 2);
  rechecks.scheduleExpired(new Date(1_999));
  rechecks.scheduleExpired(new Date(2_000));
  await expectRechecked(3);
  rechecks.scheduleExpired(new Date(2_999));
  rechecks.scheduleExpired(new Date(3_000));
  await expectRechecked(1, 2, 3);
  await rechecking.stop();
});
