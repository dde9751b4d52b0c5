import type pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { connectTo } from '../support/database.ts';
import { openStream } from '../support/event-stream.ts';
import { newApp, newSession, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { connectMqtt, topicsOf, webSocketUrl } from '../realtime/support/mqtt-client.ts';
import { startReceiver } from '../webhooks/support/receiver.ts';
import { LOOPBACK, newWebhook } from '../webhooks/support/webhooks.ts';

const service = await startTestService(LOOPBACK);
const { api } = service;

/** Prevents the publication of events during a function. */
async function whileUnpublished(work: (database: pg.Client) => Promise<unknown>): Promise<void> {
  const database = await connectTo(service.databaseUrl);
  // Also those of a failed test, because the next one counts its own.
  onTestFinished(async () => void (await database.query('delete from events where fault is not null')));
  await database.query('begin');
  await database.query(`select 1 from relay_positions where name = 'log' for update`);
  const other = await connectTo(service.databaseUrl);
  try {
    await work(other);
  } finally {
    await database.query('commit');
  }
}

/** Events while all clients start to listen. */
const PREPARING: readonly string[] = ['webhook.created', 'user.created', 'session.created'];
const afterwards = (types: readonly string[]) => types.filter((type) => !PREPARING.includes(type));

const namesOf = (received: readonly { readonly type: string }[]) => received.map(({ type }) => type);

async function metric(name: string): Promise<string | undefined> {
  const text = await (await fetch(`${api.baseUrl}/metrics`)).text();
  return text.split('\n').find((line) => line.startsWith(name));
}

/** All listeners of an application. */
async function listen(app: App) {
  const receiver = await startReceiver();
  await newWebhook(api, app, receiver.url, ['*']);
  const stream = await openStream(api, `/api/v2/dev/apps/${app.app_id}/events/stream`, app.token);
  const session = await newSession(api, app);
  const topics = topicsOf(app.app_id, session.user!.id!, session.session_id);
  const mqtt = await connectMqtt(webSocketUrl(api), { app_id: app.app_id, password: session.token });
  await mqtt.subscribe(topics.application, topics.user, topics.session);
  return {
    webhook: () => receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type),
    stream: () => namesOf(stream.events),
    mqtt: () => mqtt.messages.map(({ payload }) => payload.type),
  };
}

/** Damages of an event, and the fault that the operator reads. */
const damages: readonly (readonly [what: string, damage: string, fault: RegExp])[] = [
  ['data that are null', `data = 'null'`, /data is not an object/],
  ['data that are a list', `data = '[1]'`, /data is not an object/],
  ['data that are too long', `data = jsonb_build_object('x', repeat('x', 300000))`, /longer than/],
  ['no type', `type = ''`, /type/],
  ['a type with a line break', `type = E'user.\\nbanned'`, /type/],
  ['no application', `app_id = ''`, /app_id/],
  ['an application that makes another topic', `app_id = app_id || '/#'`, /app_id/],
  ['a user who makes another topic', `user_id = 'a/+/b'`, /user_id/],
  ['no user in an event for a user', `type = 'user.banned', user_id = null`, /user_id is missing/],
  ['no session in an event for a session', `type = 'session.ended', session_digest = null`, /session_digest/],
  ['an infinite time', `created_at = 'infinity'`, /created_at/],
  ['a time that statistics cannot count', `type = 'session.created', data = '{}'`, /RangeError/],
  ['a number that no column holds', `type = 'user.imported', data = '{"amount": 1e300}'`, /22003|22P02/],
];

test.each(damages)(
  'an event with %s is set aside, and everything else is published',
  async (_what, damage, fault) => {
    const [app, other] = [await newApp(api), await newApp(api)];
    const [listeners, others] = [await listen(app), await listen(other)];
    await expect.poll(() => listeners.webhook()).toContain('session.created');
    await expect.poll(() => others.webhook()).toContain('session.created');
    await whileUnpublished(async (database) => {
      await app.patch({ name: 'before' });
      await app.keys(1);
      await app.patch({ paused: true });
      await other.patch({ paused: true });
      const { rowCount } = await database.query(
        `update events set ${damage} where app_id = $1 and type = 'license.created' and position is null`,
        [app.app_id],
      );
      expect(rowCount).toBe(1);
    });
    for (const listener of [listeners, others]) {
      for (const receivedBy of [listener.webhook, listener.stream, listener.mqtt])
        await expect.poll(receivedBy).toContain('application.paused');
    }
    expect(listeners.stream().slice(-2)).toEqual(['application.updated', 'application.paused']);
    const database = await connectTo(service.databaseUrl);
    const { rows } = await database.query<{ event_id: string; fault: string }>(
      'select event_id, fault from events where fault is not null',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.fault).toMatch(fault);
    expect((await api.health()).body.message).toBe('operational, 1 events are set aside');
    expect((await api.health()).status).toBe(200);
    expect(await metric('latchkey_set_aside_events{from="events"}')).toMatch(/ 1$/);
    // As documented in docs/operating.md, an operator repairs it and has it published again.
    await database.query(
      `update events set fault = null, app_id = $1, type = 'license.created', user_id = null, data = '{}',
         created_at = now()
     where event_id = $2`,
      [app.app_id, rows[0]!.event_id],
    );
    await expect.poll(() => listeners.webhook()).toContain('license.created');
    // An event that is repeated comes before the last one.
    const closing = 'application.resumed';
    for (const { patch } of [app, other]) await patch({ paused: false });
    for (const listener of [listeners, others]) {
      for (const receivedBy of [listener.webhook, listener.stream, listener.mqtt])
        await expect.poll(receivedBy).toContain(closing);
    }
    const expected = ['application.updated', 'application.paused', 'license.created', closing];
    expect(afterwards(listeners.stream())).toEqual(expected);
    expect(afterwards(listeners.webhook())).toEqual(expected);
    expect(listeners.mqtt()).toEqual(expected.filter((type) => type !== 'license.created'));
    const othersOnce = ['application.paused', closing];
    expect(afterwards(others.stream())).toEqual(othersOnce);
    expect(afterwards(others.webhook())).toEqual(othersOnce);
    expect(others.mqtt()).toEqual(othersOnce);
    expect((await api.health()).body.message).toBe('operational');
  },
);

test('an event of a type that only a newer version knows reaches the audience that this version chose', async () => {
  const app = await newApp(api);
  const listeners = await listen(app);
  await whileUnpublished(async (database) => {
    await app.patch({ name: 'new' });
    await database.query(
      `update events set type = 'machine.retired', audience = 'application'
       where app_id = $1 and type = 'application.updated' and position is null`,
      [app.app_id],
    );
  });
  for (const receivedBy of [listeners.webhook, listeners.stream, listeners.mqtt])
    await expect.poll(receivedBy).toContain('machine.retired');
});

test('an event that was damaged after it was published does not prevent reading the others', async () => {
  const app = await newApp(api);
  await app.patch({ name: 'one' });
  await app.patch({ name: 'two' });
  const database = await connectTo(service.databaseUrl);
  const path = `/api/v2/dev/apps/${app.app_id}/events`;
  const list = () => api.call<{ data: { type: string }[] }>('GET', path, undefined, { token: app.token });
  await vi.waitFor(async () => expect((await list()).body.data).toHaveLength(3));
  await database.query(
    `update events set data = 'null' where event_id =
       (select event_id from events where app_id = $1 order by sequence offset 1 limit 1)`,
    [app.app_id],
  );
  const { status, body } = await list();
  expect(status).toBe(200);
  expect(body.data).toHaveLength(3);
});

test('a delivery that cannot be sent is given up, and later ones are sent', async () => {
  const app = await newApp(api);
  const receiver = await startReceiver();
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['license.created']);
  const database = await connectTo(service.databaseUrl);
  const at = service.clock.now();
  // More than are sent at once, and before all others.
  await database.query(
    `insert into webhook_deliveries
       (delivery_id, webhook_id, event_id, type, cause, payload, next_attempt_at, created_at)
     select 'dlv_0' || lpad(n::text, 25, '0'), $1, E'evt\\n' || n, 'license.created', 'replay', '{}',
       $2::timestamptz, $2::timestamptz
     from generate_series(1, 120) n`,
    [webhook_id, at],
  );
  await app.keys(1);
  await expect.poll(() => receiver.received.length).toBe(1);
  await expect
    .poll(
      async () =>
        (
          await database.query<{ state: string; error: string }>(
            `select distinct state, substring(error from 1 for 17) as error from webhook_deliveries
             where webhook_id = $1 and event_id like E'evt\\n%'`,
            [webhook_id],
          )
        ).rows,
    )
    .toEqual([{ state: 'failed', error: 'It cannot be sent' }]);
});

test('two nodes that number events concurrently publish each event once and in one order', async () => {
  const second = await startTestService({ ...LOOPBACK, DATABASE_URL: service.databaseUrl });
  const nodes = [api, second.api];
  const apps = [await newApp(api), await newApp(api)];
  const receiver = await startReceiver();
  for (const app of apps) await newWebhook(api, app, receiver.url, ['application.updated']);
  const streams = await Promise.all(
    apps.flatMap((app) =>
      nodes.map(async (node) => {
        const path = `/api/v2/dev/apps/${app.app_id}/events/stream`;
        return { app, events: (await openStream(node, path, app.token)).events };
      }),
    ),
  );
  await whileUnpublished(async (database) => {
    for (let n = 0; n < 20; n += 1) {
      for (const [place, { app_id, token }] of apps.entries()) {
        const node = nodes[(n + place) % 2]!;
        await node.call('PATCH', `/api/v2/dev/apps/${app_id}`, { name: `name ${n}` }, { token });
      }
    }
    const { rowCount } = await database.query(
      `update events set data = 'null' where event_id in (
         select event_id from events where app_id = any ($1) and position is null order by sequence offset 3 limit 5)`,
      [apps.map(({ app_id }) => app_id)],
    );
    expect(rowCount).toBe(5);
  });
  await expect.poll(() => receiver.received.length).toBe(35);
  const database = await connectTo(service.databaseUrl);
  for (const { app, events } of streams) {
    const { rows } = await database.query<{ event_id: string }>(
      `select event_id from events
       where app_id = $1 and type = 'application.updated' and fault is null order by sequence`,
      [app.app_id],
    );
    const seen = () => events.flatMap(({ id, type }) => (type === 'application.updated' ? [id] : []));
    await expect.poll(seen).toEqual(rows.map(({ event_id }) => event_id));
  }
});
