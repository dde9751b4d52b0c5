import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectForeignAbsent, expectScope } from '../../webhooks/support/foreign.ts';
import { startReceiver } from '../../webhooks/support/receiver.ts';
import {
  callWebhooks,
  banNetwork,
  listDeliveries,
  LOOPBACK,
  newWebhook,
  pathOf,
  type Schemas,
} from '../../webhooks/support/webhooks.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api, clock, databaseUrl } = await startTestService(LOOPBACK);

const scene = async () => {
  const app = await newApp(api);
  const [witness, receiver] = [await startReceiver(), await startReceiver()];
  await newWebhook(api, app, witness.url, ['ban.created']);
  const replayTo = (webhookId: string) => (body: unknown) =>
    callWebhooks<Schemas['ReplayWebhookEventsResult']>(api, app, 'POST', [webhookId, 'replay'], body);
  return { app, witness, receiver, replayTo };
};

test('sends the events of a period, of the endpoint’s types, the oldest first', async () => {
  const { app, witness, receiver, replayTo } = await scene();
  const moments: string[] = [];
  for (let host = 0; host < 5; host += 1) {
    moments.push(clock.now().toISOString());
    await banNetwork(api, app, `203.0.113.${host}`);
    await app.keys(1);
    clock.advance(SECOND);
  }
  await expect.poll(() => witness.ids()).toHaveLength(5);
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created']);
  const replay = replayTo(webhook_id);
  const { status, body } = await replay({ since: moments[1], until: moments[3] });
  expect(status).toBe(202);
  expect(body).toEqual({ status: 'success', replayed: 2, next_cursor: null });
  await expect.poll(() => new Set(receiver.ids())).toEqual(new Set(witness.ids().slice(1, 3)));
  expect((await replay({ since: moments[3] })).body).toMatchObject({ replayed: 2 });
  await expect.poll(() => new Set(receiver.ids())).toEqual(new Set(witness.ids().slice(1)));
  expect((await listDeliveries(api, app, webhook_id)).map(({ cause }) => cause)).toEqual(
    Array<string>(4).fill('replay'),
  );
});

test('many events in batches, each once', async () => {
  const { app, replayTo } = await scene();
  const silent = await startReceiver(() => {});
  const { webhook_id } = await newWebhook(api, app, silent.url, ['ban.created']);
  clock.advance(SECOND);
  const since = clock.now().toISOString();
  const database = await connectTo(databaseUrl);
  const amount = 10_500;
  await database.query(
    `insert into events (event_id, app_id, type, data, created_at, position)
     select 'evt_' || lpad(n::text, 26, '0'), $1, 'ban.created', '{}',
       $2::timestamptz + n / 100 * interval '1 ms', 1000000 + n
     from generate_series(1, $3) n`,
    [app.app_id, since, amount],
  );
  clock.advance(3_600 * SECOND);
  const until = clock.now().toISOString();
  const replay = replayTo(webhook_id);
  const first = (await replay({ since, until })).body;
  expect(first).toMatchObject({ replayed: 10_000, next_cursor: expect.any(String) as string });
  const second = (await replay({ since, until, cursor: first.next_cursor })).body;
  expect(second).toEqual({ status: 'success', replayed: 500, next_cursor: null });
  const { rows } = await database.query<{ all: string; different: string }>(
    `select count(*) as all, count(distinct event_id) as different from webhook_deliveries where webhook_id = $1`,
    [webhook_id],
  );
  expect(rows).toEqual([{ all: String(amount), different: String(amount) }]);
});

test('an application without events in that period', async () => {
  const { app, receiver, replayTo } = await scene();
  const { webhook_id } = await newWebhook(api, app, receiver.url);
  const { body } = await replayTo(webhook_id)({
    since: '0001-01-01T00:00:00Z',
    until: '0002-01-01T00:00:00Z',
  });
  expect(body).toEqual({ status: 'success', replayed: 0, next_cursor: null });
});

test('with an Idempotency-Key it is done once', async () => {
  const { app, receiver } = await scene();
  const since = clock.now().toISOString();
  await banNetwork(api, app);
  clock.advance(SECOND);
  const events = `select from events where app_id = $1 and type = 'ban.created' and position is not null`;
  const database = await connectTo(databaseUrl);
  await expect.poll(async () => (await database.query(events, [app.app_id])).rowCount).toBe(1);
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created']);
  const send = () =>
    api.post(
      pathOf(app, webhook_id, 'replay'),
      { since },
      { token: app.token, headers: { 'idempotency-key': 'k' } },
    );
  const responses = [await send(), await send()];
  expect(responses[1]!.body).toEqual(responses[0]!.body);
  expect(await listDeliveries(api, app, webhook_id)).toHaveLength(1);
});

test('WEBHOOK_DISABLED', async () => {
  const { app, receiver, replayTo } = await scene();
  const { webhook_id } = await newWebhook(api, app, receiver.url);
  await callWebhooks(api, app, 'PATCH', [webhook_id], { enabled: false });
  expectError(await replayTo(webhook_id)({ since: '2026-01-01T00:00:00Z' }), 409, 'WEBHOOK_DISABLED');
});

test.each([
  [{}, '/since'],
  [{ since: 'yesterday' }, '/since'],
  [{ since: '2026-11-21' }, '/since'],
  [{ since: '9999-01-01T00:00:00Z' }, '/since'],
  [{ since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }, '/since'],
  [{ since: '2026-01-01T00:00:00Z', until: '2026-01-01T00:00:00Z' }, '/since'],
  [{ since: '2026-01-01T00:00:00Z', cursor: 'x' }, '/cursor'],
  [{ since: '2026-01-01T00:00:00Z', cursor: '' }, '/cursor'],
])('VALIDATION_FAILED for %j', async (body, pointer) => {
  const { app, receiver, replayTo } = await scene();
  const { webhook_id } = await newWebhook(api, app, receiver.url);
  expectFaults(await replayTo(webhook_id)(body), pointer);
});

test('another developer’s counts as absent', () =>
  expectForeignAbsent(api, 'POST', ['replay'], { since: '2026-01-01T00:00:00Z' }));
test('INSUFFICIENT_SCOPE without auth:dev', () =>
  expectScope(api, 'POST', (id) => [id, 'replay'], { since: '2026-01-01T00:00:00Z' }));
