import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import mqtt from 'mqtt-packet';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { ban, newApp, newSession, type App } from '../../support/fixtures.ts';
import { spawnService } from '../../support/processes.ts';

/** The promise, for all of them. */
const WITHIN_MS = 1_000;
/** Beside what shares the machine with the tests. */
const MARGIN_MS = 2_000;
const STREAMS = 9_000;
/** At most 200 of one address. */
const MQTT_CLIENTS = 1_000;
const LISTENERS = STREAMS + MQTT_CLIENTS;
const OPENED_AT_ONCE = 50;

const databaseUrl = await createTestDatabase();
const mqttPort = await freePort();
const service = await spawnService(
  {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
    MAX_EVENT_CLIENTS: String(2 * LISTENERS),
    MQTT_PORT: String(mqttPort),
  },
  afterAll,
);
const { api } = service;
const httpPort = Number(new URL(api.baseUrl).port);

/** Sessions of users of their own, each on a machine of its own. @returns their ids */
async function newSessions(app: App, amount: number): Promise<string[]> {
  const { session_id } = await newSession(api, app);
  const ids = Array.from({ length: amount }, () => randomBytes(16).toString('base64url'));
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query(
      `with model as (
         select * from sessions join users using (user_id, app_id) where session_digest = sha256($1::bytea)
       ), made as (
         insert into users (user_id, app_id, username, username_key, role, password_hash, created_at)
         select 'usr_' || md5(id), m.app_id, md5(id), md5(id), m.role, m.password_hash, now()
         from model m, unnest($2::text[]) id
         returning user_id
       )
       insert into sessions (session_digest, token_digest, app_id, user_id, hwid_digest, created_at, expires_at)
       select sha256(id::bytea), sha256(('token' || id)::bytea), m.app_id, 'usr_' || md5(id), sha256(('hwid' || id)::bytea),
         now(), m.expires_at
       from model m, unnest($2::text[]) id`,
      [Buffer.from(session_id), ids],
    );
    await database.query('analyze');
  } finally {
    await database.end();
  }
  return ids;
}

interface Listener {
  /** When it was told that it may not go on; undefined before. */
  refusedAt: number | undefined;
  readonly socket: Socket;
}

async function openStream(sessionId: string): Promise<Listener> {
  const socket = connect(httpPort, '127.0.0.1');
  const listener: Listener = { refusedAt: undefined, socket };
  socket.write(
    `GET /api/v2/client/events HTTP/1.1\r\nHost: latchkey.test\r\nAuthorization: Bearer ${sessionId}\r\n\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString('latin1', 0, 15)).toBe('HTTP/1.1 200 OK');
  socket.on('data', (part: Buffer) => {
    if (part.includes('session.refused')) listener.refusedAt ??= performance.now();
  });
  socket.on('error', () => {});
  return listener;
}

async function openMqtt(app: App, sessionId: string, place: number): Promise<Listener> {
  const localAddress = `127.0.0.${2 + Math.floor(place / 200)}`;
  const socket = connect({ port: mqttPort, host: '127.0.0.1', localAddress });
  const listener: Listener = { refusedAt: undefined, socket };
  const topic = `latchkey/v2/apps/${app.app_id}/sessions/${sessionId}`;
  socket.write(
    mqtt.generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      clientId: '',
      keepalive: 0,
      username: app.app_id,
      password: Buffer.from(sessionId),
    }),
  );
  const [connack] = (await once(socket, 'data')) as [Buffer];
  expect(connack[3]).toBe(0);
  socket.write(mqtt.generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 0 }] }));
  const [suback] = (await once(socket, 'data')) as [Buffer];
  expect(suback.at(-1)).toBe(0);
  socket.on('data', (part: Buffer) => {
    if (part.includes('session.refused')) listener.refusedAt ??= performance.now();
  });
  socket.on('error', () => {});
  return listener;
}

async function listenAll(app: App): Promise<Listener[]> {
  const ids = await newSessions(app, LISTENERS);
  const listeners: Listener[] = [];
  for (let first = 0; first < LISTENERS; first += OPENED_AT_ONCE) {
    const some = ids
      .slice(first, first + OPENED_AT_ONCE)
      .map((id, n) => (first + n < STREAMS ? openStream(id) : openMqtt(app, id, first + n - STREAMS)));
    listeners.push(...(await Promise.all(some)));
  }
  return listeners;
}

/** Asks for what needs no database until it is over. @returns how long the slowest answer took */
function watchLoop(over: () => boolean): Promise<number> {
  return (async () => {
    let slowest = 0;
    while (!over()) {
      const began = performance.now();
      await fetch(`${api.baseUrl}/api/v2/no-such-path`)
        .then((response) => response.arrayBuffer())
        .catch(() => {});
      slowest = Math.max(slowest, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return slowest;
  })();
}

test.each([
  ['a pause', (app: App) => app.patch({ status: 'paused' })],
  ['a ban of their networks', (app: App) => ban(api, app, { kind: 'network', network: '127.0.0.0/8' })],
])('%s reaches 10,000 listeners within a second', async (what, shutOut) => {
  const app = await newApp(api);
  await app.patch({ pause_sessions: true });
  const listeners = await listenAll(app);
  let over = false;
  const slowest = watchLoop(() => over);
  const began = performance.now();
  await shutOut(app);
  const acknowledged = performance.now();
  await expect
    .poll(() => listeners.filter(({ refusedAt }) => refusedAt === undefined).length, { timeout: 60_000 })
    .toBe(0);
  over = true;
  const last = Math.max(...listeners.map(({ refusedAt }) => refusedAt!));
  console.log(
    `${what}: answered after ${(acknowledged - began).toFixed(0)} ms, the last of ${listeners.length} listeners told ` +
      `${(last - acknowledged).toFixed(0)} ms later; slowest answer meanwhile ${(await slowest).toFixed(0)} ms`,
  );
  for (const { socket } of listeners) socket.destroy();
  expect(last - acknowledged).toBeLessThan(WITHIN_MS + MARGIN_MS);
});

test('a ban of one user reaches that user at once, beside 10,000 others', async () => {
  const app = await newApp(api);
  const listeners = await listenAll(app);
  const { owner, session_id } = await newSession(api, app);
  const victim = await openStream(session_id);
  const ended = new Promise<void>((resolve) => {
    victim.socket.on('data', (part: Buffer) => void (part.includes('session.ended') && resolve()));
  });
  const began = performance.now();
  await ban(api, app, { kind: 'user', username: owner.username });
  await ended;
  console.log(`a ban of a user: told ${(performance.now() - began).toFixed(0)} ms after it was asked for`);
  expect(performance.now() - began).toBeLessThan(WITHIN_MS + MARGIN_MS);
  for (const { socket } of listeners) socket.destroy();
});
