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

/** Hears everything that Latchkey publishes to a broker, also after the broker was away. */
async function hear(port: number): Promise<{ client: MqttClient; messages: Message[] }> {
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

/** The ids of the application's events that tell sessions, in the order of the changes. */
async function toldOf(sql: pg.Client, app: App): Promise<string[]> {
  const { rows } = await sql.query<{ event_id: string }>(
    `select event_id from events where app_id = $1 and type = 'application.updated' order by sequence`,
    [app.app_id],
  );
  return rows.map((row) => row.event_id);
}

/** Ids in the order in which each came for the first time. */
const firstOf = (messages: readonly Message[], app: App) => [
  ...new Set(messages.filter(({ topic }) => topic.includes(app.app_id)).map(({ payload }) => payload.id)),
];

describe('events at a broker outside', () => {
  test('each goes to the topic of those whom it tells, and no other', async () => {
    const port = await freePort();
    await startBroker(port);
    const service = await startTestService({ BROKER_URL: `mqtt://127.0.0.1:${port}` });
    const { api } = service;
    const { messages } = await hear(port);
    const app = await newApp(api);
    const session = await newSession(api, app);
    await app.patch({ name: 'Aurora' });
    const [key] = await app.keys(1);
    await api.activate(app.with({ username: session.owner.username, license_key: key! }));
    await api.logout({ app_id: app.app_id, token: session.token });
    const topics = topicsOf(app.app_id, session.user!.id!, session.session_id);
    await expect
      .poll(() => messages.map(({ topic, payload }) => [topic, payload.type]), { timeout: 10_000 })
      .toHaveLength(3);
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

  test('what was before there was a broker is not published, and no id of a session was kept', async () => {
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
    const { messages } = await hear(port);
    const environment = { BROKER_URL: `mqtt://127.0.0.1:${port}`, DATABASE_URL: before.databaseUrl };
    await startTestService(environment);
    // The session has no topic that could be told; what comes after it is.
    await before.api.logout({ app_id: app.app_id, token: session.token });
    await app.patch({ name: 'after' });
    await expect.poll(() => messages.length, { timeout: 10_000 }).toBe(1);
    expect(messages[0]!.payload.id).toBe((await toldOf(sql, app)).at(-1));
  });

  test(
    'while it is away the API does not notice, and every event arrives in order',
    { timeout: PATIENCE_MS },
    async () => {
      const port = await freePort();
      const broker = await startBroker(port);
      const service = await startTestService({ BROKER_URL: `mqtt://127.0.0.1:${port}`, EVENT_DAYS: '1' });
      const { api } = service;
      const { client, messages } = await hear(port);
      const sql = await openSql(service.databaseUrl);
      const app = await newApp(api);
      const other = await newApp(api);
      await app.patch({ name: 'first' });
      await expect.poll(() => messages.length, { timeout: 10_000 }).toBe(1);
      await broker.kill();
      for (let n = 0; n < 60; n += 1) {
        await app.patch({ name: `name ${n}` });
        await other.patch({ name: `name ${n}` });
      }
      expect((await service.services.events.lag()).brokerEvents).toBeGreaterThanOrEqual(60);
      const told = await Promise.all([app, other].map((each) => toldOf(sql, each)));
      // Not even when their days are over are they cleared.
      service.clock.advance(2 * 86_400_000);
      await service.services.events.clearExpired();

      // Nobody publishes until the listener is back: this broker keeps nothing.
      const holder = await openSql(service.databaseUrl);
      await holder.query('begin');
      await holder.query(`select 1 from relay_positions where name = 'broker' for update`);
      const back = new Promise<void>((resolve) => client.once('connect', () => resolve()));
      await startBroker(port);
      await back;
      await client.subscribeAsync('latchkey/v2/apps/#', { qos: 1 });
      await holder.query('commit');
      for (const [n, each] of [app, other].entries()) {
        await expect.poll(() => firstOf(messages, each), { timeout: 30_000 }).toEqual(told[n]);
      }
      await expect.poll(async () => (await service.services.events.lag()).brokerEvents).toBe(0);
      await service.services.events.clearExpired();
      expect(await toldOf(sql, app)).toEqual([]);
    },
  );

  test(
    'one that hangs holds nobody up, and gets everything when it goes on',
    { timeout: PATIENCE_MS },
    async () => {
      const port = await freePort();
      const broker = await startBroker(port);
      const service = await startTestService({ BROKER_URL: `mqtt://127.0.0.1:${port}` });
      const { messages } = await hear(port);
      const sql = await openSql(service.databaseUrl);
      const app = await newApp(service.api);
      broker.hang();
      for (let n = 0; n < 10; n += 1) await app.patch({ name: `name ${n}` });
      expect((await toldOf(sql, app)).length).toBe(10);
      broker.goOn();
      const told = await toldOf(sql, app);
      await expect.poll(() => firstOf(messages, app), { timeout: 30_000 }).toEqual(told);
    },
  );
});

test(
  'of two processes one publishes at a time; when it is killed the other goes on',
  { timeout: PATIENCE_MS },
  async () => {
    const port = await freePort();
    await startBroker(port);
    const { messages } = await hear(port);
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
      const told = await toldOf(sql, app);
      expect(told).toHaveLength(40);
      await expect.poll(() => firstOf(messages, app), { timeout: 30_000 }).toEqual(told);
    }
  },
);
