import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTwoProcesses } from '../concurrency/two-processes.ts';
import { openStream } from '../support/event-stream.ts';
import { ban, newApp, newSession, type App } from '../support/fixtures.ts';
import type { Api } from '../support/api.ts';
import { runToEnd, spawnService } from '../support/processes.ts';
import { connectMqtt, topicsOf, webSocketUrl } from './support/mqtt-client.ts';

const PATIENCE_MS = 180_000;
const MASTER_KEY = randomBytes(32).toString('base64');

const both = await startTwoProcesses({ MASTER_KEY });
const [one, two] = both.services.map((service) => service.api) as [Api, Api];
const environment = { DATABASE_URL: both.databaseUrl, MASTER_KEY, LOG_LEVEL: 'error' };

const streamOf = (app: App) => `/api/v2/dev/apps/${app.app_id}/events/stream`;
const patchOf = (api: Api, app: App, changes: object) =>
  api.call('PATCH', `/api/v2/dev/apps/${app.app_id}`, changes, { token: app.token });

/** The events of an application in the order in which they were written. */
const writtenOf = (app: App) =>
  both.sql<{ event_id: string; type: string; user_id: string | null }>(
    'select event_id, type, user_id from events where app_id = $1 order by sequence',
    [app.app_id],
  );

async function listen(api: Api, app: App) {
  const session = await newSession(one, app);
  const topics = topicsOf(app.app_id, session.user!.id!, session.session_id);
  const credentials = { app_id: app.app_id, password: session.token };
  const mqtt = await connectMqtt(webSocketUrl(api), credentials);
  await mqtt.subscribe(topics.application, topics.user, topics.session);
  return { session, mqtt };
}

test('events of one process reach clients of the other, by stream and by MQTT', async () => {
  const app = await newApp(one);
  const { session, mqtt } = await listen(two, app);
  const stream = await openStream(two, '/api/v2/client/events', session.token);
  await ban(one, app, { kind: 'user', username: session.owner.username });
  expect(await stream.ended).toBe('end');
  await mqtt.closed;
  expect(stream.events.map(({ type }) => type)).toEqual(['user.banned', 'session.ended']);
  expect(mqtt.messages.map(({ payload }) => payload.type)).toEqual(['user.banned', 'session.ended']);
});

test('a ban of a machine at one process ends the connections of the other', async () => {
  const app = await newApp(one);
  const { session, mqtt } = await listen(two, app);
  await ban(one, app, { kind: 'hardware', hwid: session.owner.hwid });
  expect(await mqtt.closed).toBe(0x87);
  expect(mqtt.messages[0]!.payload).toMatchObject({ type: 'session.refused', data: { code: 'HWID_BANNED' } });
});

test('under load on both processes, every event arrives once, and those of a user in order', async () => {
  const app = await newApp(one);
  const streams = await Promise.all([one, two].map((api) => openStream(api, streamOf(app), app.token)));
  const users = await Promise.all(Array.from({ length: 6 }, () => newSession(one, app)));
  await Promise.all(
    users.map(async ({ owner }) => {
      for (let n = 0; n < 8; n += 1) {
        const api = n % 2 === 0 ? one : two;
        const { body } = await api.login(app.with(owner));
        if (n % 3 === 0) await (api === one ? two : one).logout({ app_id: app.app_id, token: body.token });
      }
    }),
  );
  const written = await writtenOf(app);
  for (const stream of streams) {
    const begun = written.findIndex(({ type }) => type === 'user.created');
    const expected = written.slice(begun);
    const ids = () =>
      stream.events.map(({ id }) => id!).filter((id) => expected.some((row) => row.event_id === id));
    await expect.poll(() => ids().length).toBe(expected.length);
    expect(new Set(ids()).size).toBe(expected.length);
    for (const { user } of users) {
      const idsOf = (rows: readonly { event_id: string; user_id: string | null }[]) =>
        rows.filter(({ user_id }) => user_id === user!.id).map(({ event_id }) => event_id);
      const received = stream.events.map(({ id, data }) => ({ event_id: id!, user_id: data.user_id }));
      expect(idsOf(received)).toEqual(idsOf(expected));
    }
  }
});

test(
  'no event is lost when the connections that listen for events are',
  { timeout: PATIENCE_MS },
  async () => {
    const app = await newApp(one);
    const stream = await openStream(two, streamOf(app), app.token);
    for (let n = 0; n < 30; n += 1) {
      if (n % 5 === 0) {
        await both.sql(
          `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'latchkey listener' and datname = current_database()`,
        );
      }
      expect((await patchOf(one, app, { name: `name ${n}` })).status).toBe(200);
    }
    const updates = () => stream.events.filter(({ type }) => type === 'application.updated');
    await expect.poll(() => updates().length).toBe(30);
    expect(new Set(updates().map(({ id }) => id)).size).toBe(30);
  },
);

describe('kill -9', { timeout: PATIENCE_MS }, () => {
  test('of the process that writes: the other one delivers everything that was committed', async () => {
    const third = await spawnService(environment);
    const app = await newApp(one);
    const stream = await openStream(two, streamOf(app), app.token);
    let acknowledged = 0;
    const writers = Array.from({ length: 4 }, async () => {
      for (;;) {
        const response = await patchOf(third.api, app, { name: `name ${acknowledged}` }).catch(
          () => undefined,
        );
        if (!response) return;
        acknowledged += 1;
      }
    });
    await expect.poll(() => acknowledged).toBeGreaterThan(40);
    await third.end('SIGKILL');
    await Promise.all(writers);
    const written = (await writtenOf(app)).filter(({ type }) => type === 'application.updated');
    expect(written.length).toBeGreaterThanOrEqual(acknowledged);
    const ids = () => stream.events.filter(({ type }) => type === 'application.updated').map(({ id }) => id);
    await expect.poll(() => ids().length).toBe(written.length);
    expect(ids()).toEqual(written.map(({ event_id }) => event_id));
  });

  test('of the process with the listener: a client continues at another one, without gap or repetition', async () => {
    const third = await spawnService(environment);
    const app = await newApp(one);
    const session = await newSession(one, app);
    const path = '/api/v2/client/events';
    const stream = await openStream(third.api, path, session.token);
    for (let n = 0; n < 10; n += 1) await patchOf(one, app, { name: `name ${n}` });
    await stream.next('application.updated');
    await third.end('SIGKILL');
    expect(await stream.ended).toBe('cut');
    for (let n = 0; n < 5; n += 1) await patchOf(one, app, { name: `more ${n}` });
    const seen = stream.events.map(({ id }) => id);
    const again = await openStream(two, path, session.token, { 'last-event-id': seen.at(-1)! });
    await expect.poll(() => seen.length + again.events.length).toBe(15);
    const ids = [...seen, ...again.events.map(({ id }) => id)];
    const written = (await writtenOf(app)).filter(({ type }) => type === 'application.updated');
    expect(ids).toEqual(written.map(({ event_id }) => event_id));
  });
});

/** Requests a stream and reads only its start. */
async function readSlowly(api: Api, path: string, token: string): Promise<Socket> {
  const { hostname, port } = new URL(api.baseUrl);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  return socket;
}

const clientsOf = async (api: Api) => {
  const text = await (await fetch(`${api.baseUrl}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    sse: value('latchkey_event_clients\\{protocol="sse"\\}'),
    mqtt: value('latchkey_event_clients\\{protocol="mqtt"\\}'),
    outbox: value('latchkey_outbox_lag_seconds'),
    broker: value('latchkey_broker_lag_events'),
  };
};

test('slow clients are disconnected, and do not delay others', { timeout: PATIENCE_MS }, async () => {
  const service = await spawnService(environment);
  const { api } = service;
  const app = await newApp(api);
  const stream = await openStream(api, streamOf(app), app.token);
  const slow = await readSlowly(api, streamOf(app), app.token);
  const { session, mqtt } = await listen(api, app);
  (mqtt.client.stream as unknown as { pause(): void }).pause();
  const socket = (mqtt.client.stream as unknown as { socket?: { _socket?: Socket } }).socket?._socket;
  socket?.pause();
  expect(await clientsOf(api)).toMatchObject({ sse: 2, mqtt: 1, outbox: 0, broker: 0 });
  // More than the system's buffers can take.
  for (let n = 0; n < 10; n += 1) {
    await both.sql(
      `insert into events (event_id, app_id, type, data, created_at)
       select 'evt_' || gen_random_uuid(), $1, 'application.updated',
         jsonb_build_object('padding', repeat(md5(n::text), 3000)), now() from generate_series(1, 20) n`,
      [app.app_id],
    );
  }
  const big = () => stream.events.filter(({ type }) => type === 'application.updated').length;
  await expect.poll(big, { timeout: 60_000 }).toBe(200);
  expect(new Set(stream.events.map(({ id }) => id)).size).toBe(stream.events.length);
  // Both are disconnected at the third heartbeat without a read.
  await expect.poll(() => clientsOf(api), { timeout: 90_000 }).toMatchObject({ sse: 1, mqtt: 0 });
  // The client sees the end only when it reads.
  slow.resume();
  await once(slow, 'close');
  expect((await api.verify({ app_id: app.app_id, token: session.token })).body.valid).toBe(true);
});

test('SIGTERM ends streams, MQTT connections and the process in time', { timeout: PATIENCE_MS }, async () => {
  const service = await spawnService({ ...environment, MQTT_PORT: '0' });
  const { api } = service;
  const app = await newApp(api);
  const { session, mqtt } = await listen(api, app);
  const streams = [
    await openStream(api, streamOf(app), app.token),
    await openStream(api, '/api/v2/client/events', session.token),
  ];
  await readSlowly(api, streamOf(app), app.token);
  const silent = new WebSocket(webSocketUrl(api), 'mqtt');
  await once(silent, 'open');
  const began = performance.now();
  expect(await service.end('SIGTERM'), service.output().stderr).toBe(0);
  const ms = performance.now() - began;
  expect(await mqtt.closed).toBe(0x8b);
  for (const stream of streams) expect(await stream.ended).toBe('end');
  expect(service.output().stderr).toBe('');
  // After 10 s, the process would exit with code 1.
  console.log(`SIGTERM with streams and MQTT connections: exit after ${ms.toFixed(0)} ms`);
});

test('the time until a ban reaches a client', { timeout: PATIENCE_MS }, async () => {
  const app = await newApp(one);
  const took: Record<'response' | 'stream' | 'mqtt', number[]> = { response: [], stream: [], mqtt: [] };
  for (let n = 0; n < 100; n += 1) {
    const { session, mqtt } = await listen(two, app);
    const stream = await openStream(two, '/api/v2/client/events', session.token);
    const at = { stream: 0, mqtt: 0 };
    mqtt.client.on('message', () => (at.mqtt ||= performance.now()));
    const watching = (async () => {
      while (stream.events.length === 0) await new Promise((resolve) => setImmediate(resolve));
      at.stream = performance.now();
    })();
    const began = performance.now();
    await ban(one, app, { kind: 'user', username: session.owner.username });
    took.response.push(performance.now() - began);
    await Promise.all([watching, mqtt.closed]);
    expect(mqtt.messages[0]!.payload.type).toBe('user.banned');
    const received = began + took.response.at(-1)!;
    took.stream.push(at.stream - received);
    took.mqtt.push(at.mqtt - received);
  }
  for (const [name, values] of Object.entries(took)) {
    values.sort((a, b) => a - b);
    const [p50, p99] = [values[49]!.toFixed(1), values[98]!.toFixed(1)];
    const what = name === 'response' ? 'returned' : `at the ${name} client, counted from the response,`;
    console.log(`a ban: ${what} after ${p50} ms (p50), ${p99} ms (p99)`);
  }
});

afterAll(() => {
  for (const service of both.services) expect(service.output().stderr).toBe('');
});

test('an MQTT port in use ends the process with one line', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const { code, stderr } = await runToEnd({ ...environment, MQTT_PORT: String(port) });
  expect(stderr).toContain(`MQTT_PORT ${port} on 127.0.0.1 is in use`);
  expect(code).toBe(1);
});
