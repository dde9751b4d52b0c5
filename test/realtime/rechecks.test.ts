import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../src/errors/api-error.ts';
import type { PublishedEvent } from '../../src/events/events.ts';
import { createAnnouncements } from '../../src/realtime/announcements.ts';
import { CHECKED_AT_ONCE, createDoubts } from '../../src/realtime/doubts.ts';
import { SLICE } from '../../src/platform/slices.ts';
import { createListeners, type SessionListener } from '../../src/realtime/listeners.ts';
import { createMqttAdmission } from '../../src/realtime/mqtt-admission.ts';
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

function newListener(place: number, told: (what: string) => void = () => {}): SessionListener {
  return {
    session: {
      appId: 'app_1',
      userId: `usr_${place}`,
      sessionDigest: Buffer.from([place >> 8, place & 255]),
      subscription: { status: 'none' },
    } as never,
    client: { address: `10.${place >> 16}.${(place >> 8) & 255}.${place & 255}` },
    offer: ({ eventId }) => told(eventId),
    finish: () => {},
  };
}

/** Doubts about listeners whose sessions are asked about by `recheckAll`. */
function doubtsAbout(
  listeners: ReturnType<typeof createListeners>,
  recheckAll: Parameters<typeof createDoubts>[0]['sessions']['recheckAll'],
  refuse: (listener: SessionListener, code: string) => void = () => {},
) {
  const find = async () => ({ kind: 'network', network: '10.0.0.0/8' }) as const;
  return createDoubts({ listeners, bans: { find }, sessions: { recheckAll }, refuse, logger });
}

test.each([
  ['a pause', newEvent('application.paused'), ['evt_application.paused', 'ADDRESS_BANNED']],
  ['a ban of their network', newEvent('ban.created', { ban_id: 'ban_1' }, 'developer'), ['ADDRESS_BANNED']],
])(
  'after %s, 10,000 listeners are asked about in a statement for each batch',
  async (_what, event, expected) => {
    const listeners = createListeners();
    const heard = new Map<SessionListener, string[]>();
    const note = (listener: SessionListener, what: string) =>
      heard.set(listener, [...(heard.get(listener) ?? []), what]);
    for (let place = 0; place < MANY; place += 1) {
      const listener: SessionListener = newListener(place, (what) => note(listener, what));
      listeners.addSession(listener);
    }
    let statements = 0;
    let refused = 0;
    const doubts = doubtsAbout(
      listeners,
      async (listening) => {
        statements += 1;
        await nextTurn();
        return listening.map(() => new ApiError('ADDRESS_BANNED'));
      },
      (listener, code) => {
        refused += 1;
        note(listener, code);
      },
    );
    const doubting = doubts.start();
    createAnnouncements({ listeners, doubts, logger }).add(event);
    await expect.poll(() => refused).toBe(MANY);
    await doubting.stop();
    expect(statements).toBe(Math.ceil(MANY / CHECKED_AT_ONCE));
    expect(heard.size).toBe(MANY);
    for (const what of heard.values()) expect(what).toEqual(expected);
  },
);

test('a pause and the refusal behind it are told in one turn, so that they go out together', async () => {
  const listeners = createListeners();
  let turn = 0;
  let watching = true;
  const watch = () => {
    turn += 1;
    if (watching) setImmediate(watch);
  };
  watch();
  const toldIn = new Map<SessionListener, number>();
  const refusedIn = new Map<SessionListener, number>();
  for (let place = 0; place < 600; place += 1) {
    const listener: SessionListener = newListener(place, () => toldIn.set(listener, turn));
    listeners.addSession(listener);
  }
  const doubts = doubtsAbout(
    listeners,
    async (listening) => {
      await nextTurn();
      return listening.map(() => new ApiError('APPLICATION_PAUSED'));
    },
    (listener) => refusedIn.set(listener, turn),
  );
  createAnnouncements({ listeners, doubts, logger }).add(newEvent('application.paused'));
  await expect.poll(() => refusedIn.size).toBe(600);
  watching = false;
  expect([...refusedIn]).toEqual([...toldIn]);
  for (const inOneTurn of Map.groupBy(toldIn.values(), (each) => each).values())
    expect(inOneTurn.length).toBeLessThanOrEqual(SLICE);
});

test('while the database is away, listeners are told of a pause, and are asked about later', async () => {
  const listeners = createListeners();
  const heard: string[] = [];
  const refused = new Set<SessionListener>();
  for (let place = 0; place < 600; place += 1)
    listeners.addSession(newListener(place, (what) => heard.push(what)));
  const answers = ['answer', 'fail'];
  const doubts = doubtsAbout(
    listeners,
    async (listening) => {
      await nextTurn();
      if (answers.shift() === 'fail') throw new Error('the database is away');
      return listening.map(() => new ApiError('APPLICATION_PAUSED'));
    },
    (listener) => refused.add(listener),
  );
  createAnnouncements({ listeners, doubts, logger }).add(newEvent('application.paused'));
  await expect.poll(() => heard.length).toBe(600);
  expect(refused.size).toBe(CHECKED_AT_ONCE);
  const doubting = doubts.start();
  await expect.poll(() => refused.size).toBe(600);
  await doubting.stop();
  expect(heard).toHaveLength(600);
});

test('the database is asked once about many sessions, and once about bans of an application that has any', async () => {
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
  const asked = query.mock.calls
    .map(([statement]) => (statement as unknown as { text: string }).text)
    .filter((text) => /from unnest/.test(text));
  query.mockRestore();
  expect(asked).toHaveLength(2);

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
  // One by one, each is told the same.
  for (const [place, { sessionDigest, client }] of listening.entries()) {
    const alone = await services.sessions.recheck(sessionDigest, client).then(
      ({ username }) => username,
      (error: ApiError) => error.code,
    );
    expect(alone).toBe(expected[place]);
  }
});

test('events reach many listeners in their order, with turns of the event loop in between', async () => {
  const listeners = createListeners();
  const heard = new Map<number, string[]>();
  for (let place = 0; place < 300; place += 1) {
    listeners.addSession(
      newListener(place, (what) => {
        heard.set(place, [...(heard.get(place) ?? []), what]);
        // As slow as writing to a socket may be.
        for (const until = performance.now() + 0.2; performance.now() < until;);
      }),
    );
  }
  const told: string[] = [];
  const doubts = {
    isAboutAll: () => false,
    tellAll: async () => {},
    noteAll: () => {},
    note: ({ eventId }: PublishedEvent) => void told.push(eventId),
  };
  const { add } = createAnnouncements({ listeners, doubts, logger });
  const events = ['application.updated', 'application.paused', 'application.resumed'] as const;
  for (const type of events) add(newEvent(type));
  let turns = 0;
  while (told.length < events.length) {
    await nextTurn();
    turns += 1;
  }
  expect(turns).toBeGreaterThan(events.length);
  const ids = events.map((type) => `evt_${type}`);
  expect(told).toEqual(ids);
  for (let place = 0; place < 300; place += 1) expect(heard.get(place)).toEqual(ids);

  // Few are told at once.
  const few = createListeners();
  few.addSession(newListener(1));
  createAnnouncements({ listeners: few, doubts, logger }).add(newEvent('application.updated'));
  expect(told).toHaveLength(4);
});

test('many events that each tell few leave turns of the event loop to others', async () => {
  const listeners = createListeners();
  const heard: string[] = [];
  for (let place = 0; place < 5; place += 1)
    listeners.addSession(newListener(place, (what) => heard.push(what)));
  const doubts = { isAboutAll: () => false, tellAll: async () => {}, note: () => {}, noteAll: () => {} };
  const { add } = createAnnouncements({ listeners, doubts, logger });
  const ids = Array.from({ length: 100 }, (_, place) => `evt_${place}`);
  for (const eventId of ids) add({ ...newEvent('variable.set'), eventId });
  for (let before = 0; heard.length < 500; before = heard.length) {
    await nextTurn();
    expect(heard.length - before).toBeLessThanOrEqual(2 * SLICE);
  }
  expect(heard).toEqual(ids.flatMap((eventId) => Array<string>(5).fill(eventId)));
});

test('a database that hangs holds up no event of another application, and those of its own for half a second', async () => {
  const listeners = createListeners();
  const heard: string[] = [];
  for (const appId of ['app_1', 'app_2']) {
    const listener = newListener(1, (what) => heard.push(`${appId} ${what}`));
    listeners.addSession({ ...listener, session: { ...listener.session, appId } });
  }
  const doubts = doubtsAbout(listeners, () => new Promise(() => {}));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { add } = createAnnouncements({ listeners, doubts, logger });
    add(newEvent('application.paused'));
    add(newEvent('application.resumed'));
    add({ ...newEvent('variable.set'), appId: 'app_2' });
    expect(heard).toEqual(['app_2 evt_variable.set']);
    await nextTurn();
    vi.advanceTimersByTime(500);
    await expect
      .poll(() => heard.slice(1))
      .toEqual(['app_1 evt_application.paused', 'app_1 evt_application.resumed']);
  } finally {
    vi.useRealTimers();
  }
});

test('of switches that change quickly, sessions are asked about at the first one and once behind all', async () => {
  const listeners = createListeners();
  const heard: string[] = [];
  listeners.addSession(newListener(1, (what) => heard.push(what)));
  let statements = 0;
  const doubts = doubtsAbout(listeners, async (listening) => {
    statements += 1;
    await nextTurn();
    return listening.map(() => new ApiError('SESSION_INVALID'));
  });
  const doubting = doubts.start();
  const { add } = createAnnouncements({ listeners, doubts, logger });
  const ids = Array.from({ length: 50 }, (_, place) => `evt_${place}`);
  for (const eventId of ids) add({ ...newEvent('application.updated', { changed: ['block_vpn'] }), eventId });
  await expect.poll(() => heard).toEqual(ids);
  await doubting.stop();
  // One may be under way while the last ones are told.
  expect(statements).toBeGreaterThanOrEqual(2);
  expect(statements).toBeLessThanOrEqual(4);
});

test('a ban that comes while many are asked about is looked at before the next batch', async () => {
  const listeners = createListeners();
  for (let place = 0; place < 4 * CHECKED_AT_ONCE; place += 1) listeners.addSession(newListener(place));
  const log: string[] = [];
  const doubts = createDoubts({
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
        if (log.length === 1) doubts.note(newEvent('ban.created', { ban_id: 'ban_1' }, 'developer'));
        await nextTurn();
        return listening.map(() => new ApiError('SESSION_INVALID'));
      },
    },
    refuse: () => {},
    logger,
  });
  const doubting = doubts.start();
  doubts.noteAll(newEvent('application.paused'));
  await expect.poll(() => log.length).toBe(5);
  await doubting.stop();
  expect(log).toEqual(['batch', 'ban', 'batch', 'batch', 'batch']);
});

test('a node that stops asks about no more batches', async () => {
  const listeners = createListeners();
  for (let place = 0; place < 4 * CHECKED_AT_ONCE; place += 1) listeners.addSession(newListener(place));
  let statements = 0;
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const doubts = doubtsAbout(listeners, async (listening) => {
    statements += 1;
    asked.resolve();
    await answer.promise;
    return listening.map(() => new ApiError('SESSION_INVALID'));
  });
  const doubting = doubts.start();
  doubts.noteAll(newEvent('application.paused'));
  await asked.promise;
  const stopped = doubting.stop();
  answer.resolve();
  await stopped;
  expect(statements).toBe(1);
});

test('an event whose list of changes is damaged is told, and raises doubts', async () => {
  const listeners = createListeners();
  const heard: string[] = [];
  listeners.addSession(newListener(1, (what) => heard.push(what)));
  const refused = new Set<SessionListener>();
  const doubts = doubtsAbout(
    listeners,
    async (listening) => listening.map(() => new ApiError('VPN_BLOCKED')),
    (listener) => refused.add(listener),
  );
  createAnnouncements({ listeners, doubts, logger }).add(newEvent('application.updated', { changed: 'x' }));
  await expect.poll(() => refused.size).toBe(1);
  expect(heard).toEqual(['evt_application.updated']);
});

test('an MQTT client whose end is under way is told nothing more, and ended once', async () => {
  const listeners = createListeners();
  const identity = { appId: 'app_1', userId: 'usr_1', sessionDigest: Buffer.alloc(32) } as never;
  const admission = createMqttAdmission({
    sessions: { identify: async () => identity, recheck: async () => identity },
    listeners,
    holders: { take: () => () => {} } as never,
    listenersASession: 5,
  });
  const said: string[] = [];
  const peer = { send: (topic: string) => said.push(topic), end: (reason: string) => said.push(reason) };
  await admission({ address: '127.0.0.1' })({ username: undefined, password: 'token' }, peer as never);
  const [listener] = [...listeners.sessions()];
  const notice = {
    type: 'session.expired',
    timestamp: '',
    app_id: 'app_1',
    user_id: 'usr_1',
    data: {},
  } as const;
  listener!.finish(notice);
  listener!.finish(notice);
  listener!.offer(newEvent('application.paused'), true);
  expect(said).toEqual(['maximumConnectTime']);
});
