import { randomBytes } from 'node:crypto';
import { connectAsync, type MqttClient } from 'mqtt';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startBroker } from '../conformance/support/broker-process.ts';
import { createTestDatabase } from '../support/database.ts';
import { newApp, newSession, type App } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { spawnService } from '../support/processes.ts';
import { startTestService } from '../support/service.ts';
import { topicsOf, type Message } from './support/mqtt-client.ts';

const PATIENCE_MS = 120_000;
const MASTER_KEY = randomBytes(32).toString('base64');

/** Collects everything that Latchkey publishes to a broker, also after the broker was unavailable. */
async function collect(port: number): Promise<{ client: MqttClient; messages: Message[] }> {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, {
    reconnectPeriod: 50,
    connectTimeout: 1_000,
  });
  onTestFinished(() => void client.end(true));
  client.on('error', () => {});
  const messages: Message[] = [];
  client.on('message', (topic, payload, { qos }) => {
    messages.push({ topic, qos, payload: JSON.parse(payload.toString()) as Message['payload'] });
  });
  await client.subscribeAsync('latchkey/v2/apps/#', { qos: 1 });
  return { client, messages };
}

async function openSql(databaseUrl: string): Promise<pg.Client> {
  const sql = new pg.Client({ connectionString: databaseUrl });
  await sql.connect();
  onTestFinished(() => sql.end());
  return sql;
}

/** The ids of the application's events for sessions, in the order of the changes. */
async function eventIdsOf(sql: pg.Client, app: App): Promise<string[]> {
  const { rows } = await sql.query<{ event_id: string }>(
    `select event_id from events where app_id = $1 and type = 'application.updated' order by sequence`,
    [app.app_id],
  );
  return rows.map((row) => row.event_id);
}

/** Ids in the order of their first arrival. */
const firstOf = (messages: readonly Message[], app: App) => [
  ...new Set(messages.filter(({ topic }) => topic.includes(app.app_id)).map(({ payload }) => payload.id)),
];

describe('events at an external broker', () => {
  test('each is published to the topic of its audience, and no other', async () => {
    const port = await freePort();
    await startBroker(port);
    const service = await startTestService({ BROKER_URL: `mqtt://127.0.0.1:${port}` });
    const { api } = service;
    const { messages } = await collect(port);
    const app = await newApp(api);
    const session = await newSession(api, app);
    await app.patch({ name: 'Aurora' });
    const [key] = await app.keys(1);
    await api.activate(app.with({ username: session.owner.username, license_key: key! }));
    await api.logout({ app_id: app.app_id, token: session.token });
    const topics = topicsOf(app.app_id, session.user!.id!, session.session_id);
    await expect.poll(() => messages.map(({ topic, payload }) => [topic, payload.type])).toHaveLength(3);
    expect(messages.map(({ topic, qos, payload }) => [topic, qos, payload.type]).sort()).toEqual(
      [
        [topics.application, 1, 'application.updated'],
        [topics.user, 1, 'license.redeemed'],
        [topics.session, 1, 'session.ended'],
      ].sort(),
    );
    await expect.poll(async () => (await service.services.events.lag()).brokerEvents).toBe(0);
    const text = JSON.stringify(messages);
    for (const secret of [session.token, app.secret, session.owner.hwid]) expect(text).not.toContain(secret);
    const sql = await openSql(service.databaseUrl);
    const { rows } = await sql.query<{ sealed: Buffer }>(
      'select session_id_sealed as sealed from session_ids',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.sealed.includes(session.session_id)).toBe(false);
  });

  test('events from before the broker are not published, and no session ids were stored', async () => {
    const before = await startTestService();
    const app = await newApp(before.api);
    const session = await newSession(before.api, app);
    await app.patch({ name: 'before' });
    const sql = await openSql(before.databaseUrl);
    expect((await sql.query('select 1 from session_ids')).rows).toEqual([]);
    await expect
      .poll(async () => (await sql.query('select 1 from events where position is null')).rows)
      .toEqual([]);
    const port = await freePort();
    await startBroker(port);
    const { messages } = await collect(port);
    const environment = { BROKER_URL: `mqtt://127.0.0.1:${port}`, DATABASE_URL: before.databaseUrl };
    await startTestService(environment);
    // The id of the session was not stored, so it has no topic. The later event has one.
    await before.api.logout({ app_id: app.app_id, token: session.token });
    await app.patch({ name: 'after' });
    await expect.poll(() => messages.length).toBe(1);
    expect(messages[0]!.payload.id).toBe((await eventIdsOf(sql, app)).at(-1));
  });

  test(
    'while it is unavailable, the API works, and every event arrives later in order',
    { timeout: PATIENCE_MS },
    async () => {
      const port = await freePort();
      const broker = await startBroker(port);
      const service = await startTestService({ BROKER_URL: `mqtt://127.0.0.1:${port}`, EVENT_DAYS: '1' });
      const { api } = service;
      const { client, messages } = await collect(port);
      const sql = await openSql(service.databaseUrl);
      const app = await newApp(api);
      const other = await newApp(api);
      await app.patch({ name: 'first' });
      await expect.poll(() => messages.length).toBe(1);
      await broker.kill();
      for (let n = 0; n < 60; n += 1) {
        await app.patch({ name: `name ${n}` });
        await other.patch({ name: `name ${n}` });
      }
      expect((await service.services.events.lag()).brokerEvents).toBeGreaterThanOrEqual(60);
      const written = await Promise.all([app, other].map((each) => eventIdsOf(sql, each)));
      // Unpublished events are kept beyond EVENT_DAYS.
      service.clock.advance(2 * 86_400_000);
      await service.services.events.clearExpired();

      // Publishing waits until the client is back, because this broker keeps nothing.
      const holder = await openSql(service.databaseUrl);
      await holder.query('begin');
      await holder.query(`select 1 from relay_positions where name = 'broker' for update`);
      const reconnected = new Promise<void>((resolve) => client.once('connect', () => resolve()));
      await startBroker(port);
      await reconnected;
      await client.subscribeAsync('latchkey/v2/apps/#', { qos: 1 });
      await holder.query('commit');
      for (const [n, each] of [app, other].entries()) {
        await expect.poll(() => firstOf(messages, each), { timeout: 30_000 }).toEqual(written[n]);
      }
      await expect.poll(async () => (await service.services.events.lag()).brokerEvents).toBe(0);
      await service.services.events.clearExpired();
      expect(await eventIdsOf(sql, app)).toEqual([]);
    },
  );

  test(
    'one that hangs delays no request, and receives everything when it continues',
    { timeout: PATIENCE_MS },
    async () => {
      const port = await freePort();
      const broker = await startBroker(port);
      const service = await startTestService({ BROKER_URL: `mqtt://127.0.0.1:${port}` });
      const { messages } = await collect(port);
      const sql = await openSql(service.databaseUrl);
      const app = await newApp(service.api);
      broker.hang();
      for (let n = 0; n < 10; n += 1) await app.patch({ name: `name ${n}` });
      expect((await eventIdsOf(sql, app)).length).toBe(10);
      broker.resume();
      const written = await eventIdsOf(sql, app);
      await expect.poll(() => firstOf(messages, app), { timeout: 30_000 }).toEqual(written);
    },
  );
});

test(
  'one of two processes publishes, and when it is killed, the other one continues',
  { timeout: PATIENCE_MS },
  async () => {
    const port = await freePort();
    await startBroker(port);
    const { messages } = await collect(port);
    const databaseUrl = await createTestDatabase();
    const environment = {
      DATABASE_URL: databaseUrl,
      MASTER_KEY,
      BROKER_URL: `mqtt://127.0.0.1:${port}`,
      LOG_LEVEL: 'fatal',
    };
    const [one, two] = await Promise.all([spawnService(environment), spawnService(environment)]);
    const sql = await openSql(databaseUrl);
    const apps = await Promise.all([newApp(two.api), newApp(two.api), newApp(two.api)]);
    const write = (amount: number) =>
      Promise.all(
        apps.map(async (app) => {
          for (let n = 0; n < amount; n += 1) await app.patch({ name: `name ${n}` });
        }),
      );
    await write(20);
    const killed = one.end('SIGKILL');
    await write(20);
    await killed;
    for (const app of apps) {
      const written = await eventIdsOf(sql, app);
      expect(written).toHaveLength(40);
      await expect.poll(() => firstOf(messages, app), { timeout: 30_000 }).toEqual(written);
    }
  },
);
