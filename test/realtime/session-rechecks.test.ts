import { setImmediate as nextIteration } from 'node:timers/promises';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../src/foundation/errors/api-error.ts';
import type { PublishedEvent } from '../../src/foundation/events/events.ts';
import { createEventFanOut } from '../../src/messaging/realtime/event-fan-out.ts';
import { BATCH_SIZE, createSessionRechecks } from '../../src/messaging/realtime/session-rechecks.ts';
import { CHUNK_SIZE } from '../../src/platform/chunks.ts';
import { createListeners, type SessionListener } from '../../src/messaging/realtime/listeners.ts';
import { createMqttAdmission } from '../../src/messaging/realtime/mqtt-admission.ts';
import { ban, newApp, newSession } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const MANY = 10_000;
const logger = { debug: () => {}, error: () => {} } as never;

function newEvent(
  type: PublishedEvent['type'],
  data: PublishedEvent['data'] = {},
  audience: PublishedEvent['audience'] = 'application',
): PublishedEvent {
  return {
    eventId: `evt_${type}`,
    position: 1,
    type,
    audience,
    appId: 'app_1',
    userId: null,
    sessionDigest: null,
    data,
    createdAt: new Date(0),
  };
}

function newListener(place: number, onEvent: (eventId: string) => void = () => {}): SessionListener {
  return {
    session: {
      appId: 'app_1',
      userId: `usr_${place}`,
      sessionDigest: Buffer.from([place >> 8, place & 255]),
      subscription: { status: 'none' },
    } as never,
    client: { address: `10.${place >> 16}.${(place >> 8) & 255}.${place & 255}` },
    offer: ({ eventId }) => onEvent(eventId),
    finish: () => {},
  };
}

/** Rechecks of listeners, with `recheckAll` in place of the sessions. */
function createRechecks(
  listeners: ReturnType<typeof createListeners>,
  recheckAll: Parameters<typeof createSessionRechecks>[0]['sessions']['recheckAll'],
  refuse: (listener: SessionListener, code: string) => void = () => {},
) {
  const find = async () => ({ kind: 'network', network: '10.0.0.0/8' }) as const;
  return createSessionRechecks({ listeners, bans: { find }, sessions: { recheckAll }, refuse, logger });
}

test.each([
  ['a pause', newEvent('application.paused'), ['evt_application.paused', 'ADDRESS_BANNED']],
  ['a ban of their network', newEvent('ban.created', { ban_id: 'ban_1' }, 'developer'), ['ADDRESS_BANNED']],
])(
  'after %s, 10,000 listeners are rechecked in one statement for each batch',
  async (_what, event, expected) => {
    const listeners = createListeners();
    const received = new Map<SessionListener, string[]>();
    const note = (listener: SessionListener, what: string) =>
      received.set(listener, [...(received.get(listener) ?? []), what]);
    for (let place = 0; place < MANY; place += 1) {
      const listener: SessionListener = newListener(place, (what) => note(listener, what));
      listeners.addSession(listener);
    }
    let statements = 0;
    let refused = 0;
    const rechecks = createRechecks(
      listeners,
      async (listening) => {
        statements += 1;
        await nextIteration();
        return listening.map(() => new ApiError('ADDRESS_BANNED'));
      },
      (listener, code) => {
        refused += 1;
        note(listener, code);
      },
    );
    const rechecking = rechecks.start();
    createEventFanOut({ listeners, rechecks, logger }).deliver(event);
    await expect.poll(() => refused).toBe(MANY);
    await rechecking.stop();
    expect(statements).toBe(Math.ceil(MANY / BATCH_SIZE));
    expect(received.size).toBe(MANY);
    for (const what of received.values()) expect(what).toEqual(expected);
  },
);

test('a pause and the refusal after it are delivered in one iteration of the event loop', async () => {
  const listeners = createListeners();
  let iteration = 0;
  let watching = true;
  const watch = () => {
    iteration += 1;
    if (watching) setImmediate(watch);
  };
  watch();
  const deliveredIn = new Map<SessionListener, number>();
  const refusedIn = new Map<SessionListener, number>();
  for (let place = 0; place < 600; place += 1) {
    const listener: SessionListener = newListener(place, () => deliveredIn.set(listener, iteration));
    listeners.addSession(listener);
  }
  const rechecks = createRechecks(
    listeners,
    async (listening) => {
      await nextIteration();
      return listening.map(() => new ApiError('APPLICATION_PAUSED'));
    },
    (listener) => refusedIn.set(listener, iteration),
  );
  createEventFanOut({ listeners, rechecks, logger }).deliver(newEvent('application.paused'));
  await expect.poll(() => refusedIn.size).toBe(600);
  watching = false;
  expect([...refusedIn]).toEqual([...deliveredIn]);
  for (const inOneIteration of Map.groupBy(deliveredIn.values(), (each) => each).values())
    expect(inOneIteration.length).toBeLessThanOrEqual(CHUNK_SIZE);
});

test('while the database is unavailable, a pause is delivered and listeners are rechecked later', async () => {
  const listeners = createListeners();
  const received: string[] = [];
  const refused = new Set<SessionListener>();
  for (let place = 0; place < 600; place += 1)
    listeners.addSession(newListener(place, (what) => received.push(what)));
  const outcomes = ['succeed', 'fail'];
  const rechecks = createRechecks(
    listeners,
    async (listening) => {
      await nextIteration();
      if (outcomes.shift() === 'fail') throw new Error('the database is unavailable');
      return listening.map(() => new ApiError('APPLICATION_PAUSED'));
    },
    (listener) => refused.add(listener),
  );
  createEventFanOut({ listeners, rechecks, logger }).deliver(newEvent('application.paused'));
  await expect.poll(() => received.length).toBe(600);
  expect(refused.size).toBe(BATCH_SIZE);
  const rechecking = rechecks.start();
  await expect.poll(() => refused.size).toBe(600);
  await rechecking.stop();
  expect(received).toHaveLength(600);
});

test('many sessions are rechecked in one query, and their bans in one query per application with bans', async () => {
  const service = await startTestService();
  const { api, services } = service;
  const [quiet, app] = [await newApp(api), await newApp(api)];
  const sessions = [];
  for (const each of [quiet, quiet, app, app, app, app]) sessions.push(await newSession(api, each));
  const identities = await Promise.all(
    sessions.map(({ token }) => services.sessions.identify(token, { address: '192.0.2.1' })),
  );
  await ban(api, app, { kind: 'network', network: '198.51.100.0/24' });
  await ban(api, app, { kind: 'hardware', hwid: sessions[3]!.owner.hwid });
  await api.logout({ app_id: app.app_id, token: sessions[4]!.token });
  const listening = identities.map(({ sessionDigest }, place) => ({
    sessionDigest,
    client: { address: place === 2 ? '198.51.100.7' : '192.0.2.1' },
  }));

  const query = vi.spyOn(pg.Client.prototype, 'query');
  const outcomes = await services.sessions.recheckAll([...listening, ...listening]);
  const statements = query.mock.calls
    .map(([statement]) => (statement as unknown as { text: string }).text)
    .filter((text) => /from unnest/.test(text));
  query.mockRestore();
  expect(statements).toHaveLength(2);

  const names = outcomes.map((outcome) => (outcome instanceof ApiError ? outcome.code : outcome.username));
  const expected = [
    sessions[0]!.owner.username,
    sessions[1]!.owner.username,
    'ADDRESS_BANNED',
    'HWID_BANNED',
    'SESSION_INVALID',
    sessions[5]!.owner.username,
  ];
  expect(names).toEqual([...expected, ...expected]);
  // One by one, the outcomes are the same.
  for (const [place, { sessionDigest, client }] of listening.entries()) {
    const alone = await services.sessions.recheck(sessionDigest, client).then(
      ({ username }) => username,
      (error: ApiError) => error.code,
    );
    expect(alone).toBe(expected[place]);
  }
});

test('many listeners receive events in order, over several iterations of the event loop', async () => {
  const listeners = createListeners();
  const received = new Map<number, string[]>();
  for (let place = 0; place < 300; place += 1) {
    listeners.addSession(
      newListener(place, (what) => {
        received.set(place, [...(received.get(place) ?? []), what]);
        // As slow as a write to a socket can be.
        for (const until = performance.now() + 0.2; performance.now() < until;);
      }),
    );
  }
  const completed: string[] = [];
  const rechecks = {
    affectsAll: () => false,
    deliverAndRecheck: async () => {},
    scheduleAll: () => {},
    schedule: ({ eventId }: PublishedEvent) => void completed.push(eventId),
  };
  const { deliver } = createEventFanOut({ listeners, rechecks, logger });
  const events = ['application.updated', 'application.paused', 'application.resumed'] as const;
  for (const type of events) deliver(newEvent(type));
  let iterations = 0;
  while (completed.length < events.length) {
    await nextIteration();
    iterations += 1;
  }
  expect(iterations).toBeGreaterThan(events.length);
  const ids = events.map((type) => `evt_${type}`);
  expect(completed).toEqual(ids);
  for (let place = 0; place < 300; place += 1) expect(received.get(place)).toEqual(ids);

  // Few listeners receive an event at once.
  const few = createListeners();
  few.addSession(newListener(1));
  createEventFanOut({ listeners: few, rechecks: rechecks, logger }).deliver(newEvent('application.updated'));
  expect(completed).toHaveLength(4);
});

test('many events with few listeners each do not block the event loop', async () => {
  const listeners = createListeners();
  const received: string[] = [];
  for (let place = 0; place < 5; place += 1)
    listeners.addSession(newListener(place, (what) => received.push(what)));
  const rechecks = {
    affectsAll: () => false,
    deliverAndRecheck: async () => {},
    schedule: () => {},
    scheduleAll: () => {},
  };
  const { deliver } = createEventFanOut({ listeners, rechecks, logger });
  const ids = Array.from({ length: 100 }, (_, place) => `evt_${place}`);
  for (const eventId of ids) deliver({ ...newEvent('variable.set'), eventId });
  for (let before = 0; received.length < 500; before = received.length) {
    await nextIteration();
    expect(received.length - before).toBeLessThanOrEqual(2 * CHUNK_SIZE);
  }
  expect(received).toEqual(ids.flatMap((eventId) => Array<string>(5).fill(eventId)));
});

test('a hanging database delays events of the same application for half a second, and no others', async () => {
  const listeners = createListeners();
  const received: string[] = [];
  for (const appId of ['app_1', 'app_2']) {
    const listener = newListener(1, (what) => received.push(`${appId} ${what}`));
    listeners.addSession({ ...listener, session: { ...listener.session, appId } });
  }
  const rechecks = createRechecks(listeners, () => new Promise(() => {}));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { deliver } = createEventFanOut({ listeners, rechecks, logger });
    deliver(newEvent('application.paused'));
    deliver(newEvent('application.resumed'));
    deliver({ ...newEvent('variable.set'), appId: 'app_2' });
    expect(received).toEqual(['app_2 evt_variable.set']);
    await nextIteration();
    vi.advanceTimersByTime(500);
    await expect
      .poll(() => received.slice(1))
      .toEqual(['app_1 evt_application.paused', 'app_1 evt_application.resumed']);
  } finally {
    vi.useRealTimers();
  }
});

test('after quick changes of settings, sessions are rechecked at the first one and once after all', async () => {
  const listeners = createListeners();
  const received: string[] = [];
  listeners.addSession(newListener(1, (what) => received.push(what)));
  let statements = 0;
  const rechecks = createRechecks(listeners, async (listening) => {
    statements += 1;
    await nextIteration();
    return listening.map(() => new ApiError('SESSION_INVALID'));
  });
  const rechecking = rechecks.start();
  const { deliver } = createEventFanOut({ listeners, rechecks, logger });
  const ids = Array.from({ length: 50 }, (_, place) => `evt_${place}`);
  for (const eventId of ids)
    deliver({ ...newEvent('application.updated', { changed: ['block_vpn'] }), eventId });
  await expect.poll(() => received).toEqual(ids);
  await rechecking.stop();
  // One may be in progress while the last events are delivered.
  expect(statements).toBeGreaterThanOrEqual(2);
  expect(statements).toBeLessThanOrEqual(4);
});

test('a ban during rechecks of many sessions is processed before the next batch', async () => {
  const listeners = createListeners();
  for (let place = 0; place < 4 * BATCH_SIZE; place += 1) listeners.addSession(newListener(place));
  const log: string[] = [];
  const rechecks = createSessionRechecks({
    listeners,
    bans: {
      find: async () => {
        log.push('ban');
        return undefined;
      },
    },
    sessions: {
      recheckAll: async (listening) => {
        log.push('batch');
        if (log.length === 1) rechecks.schedule(newEvent('ban.created', { ban_id: 'ban_1' }, 'developer'));
        await nextIteration();
        return listening.map(() => new ApiError('SESSION_INVALID'));
      },
    },
    refuse: () => {},
    logger,
  });
  const rechecking = rechecks.start();
  rechecks.scheduleAll(newEvent('application.paused'));
  await expect.poll(() => log.length).toBe(5);
  await rechecking.stop();
  expect(log).toEqual(['batch', 'ban', 'batch', 'batch', 'batch']);
});

test('a node that stops rechecks no further batch', async () => {
  const listeners = createListeners();
  for (let place = 0; place < 4 * BATCH_SIZE; place += 1) listeners.addSession(newListener(place));
  let statements = 0;
  const queried = Promise.withResolvers<void>();
  const response = Promise.withResolvers<void>();
  const rechecks = createRechecks(listeners, async (listening) => {
    statements += 1;
    queried.resolve();
    await response.promise;
    return listening.map(() => new ApiError('SESSION_INVALID'));
  });
  const rechecking = rechecks.start();
  rechecks.scheduleAll(newEvent('application.paused'));
  await queried.promise;
  const stopped = rechecking.stop();
  response.resolve();
  await stopped;
  expect(statements).toBe(1);
});

test('an event whose list of changes is damaged is delivered, and all sessions are rechecked', async () => {
  const listeners = createListeners();
  const received: string[] = [];
  listeners.addSession(newListener(1, (what) => received.push(what)));
  const refused = new Set<SessionListener>();
  const rechecks = createRechecks(
    listeners,
    async (listening) => listening.map(() => new ApiError('VPN_BLOCKED')),
    (listener) => refused.add(listener),
  );
  createEventFanOut({ listeners, rechecks, logger }).deliver(
    newEvent('application.updated', { changed: 'x' }),
  );
  await expect.poll(() => refused.size).toBe(1);
  expect(received).toEqual(['evt_application.updated']);
});

test('an MQTT client that is being disconnected receives nothing more and is disconnected once', async () => {
  const listeners = createListeners();
  const identity = { appId: 'app_1', userId: 'usr_1', sessionDigest: Buffer.alloc(32) } as never;
  const admission = createMqttAdmission({
    sessions: { identify: async () => identity, recheck: async () => identity },
    listeners,
    slots: { acquireSession: () => () => {} },
  });
  const sent: string[] = [];
  const peer = { send: (topic: string) => sent.push(topic), end: (reason: string) => sent.push(reason) };
  await admission({ address: '127.0.0.1' })({ username: undefined, password: 'token' }, peer as never);
  const [listener] = [...listeners.sessions()];
  const message = {
    type: 'session.expired',
    timestamp: '',
    app_id: 'app_1',
    user_id: 'usr_1',
    data: {},
  } as const;
  listener!.finish(message);
  listener!.finish(message);
  listener!.offer(newEvent('application.paused'), true);
  expect(sent).toEqual(['maximumConnectTime']);
});
