import { describe, expect, test } from 'vitest';
import { DAY, SECOND } from '../support/clock.ts';
import { newApp } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startReceiver } from './support/receiver.ts';
import {
  callWebhooks,
  getDelivery,
  getWebhook,
  banNetwork,
  listDeliveries,
  LOOPBACK,
  newWebhook,
  withLastingToken,
} from './support/webhooks.ts';

const { api, clock } = await startTestService(LOOPBACK);

const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const SCHEDULE = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

async function scene(behavior: Parameters<typeof startReceiver>[0]) {
  const app = await withLastingToken(api, await newApp(api));
  const receiver = await startReceiver(behavior);
  const webhook = await newWebhook(api, app, receiver.url, ['ban.created']);
  const only = async () => (await listDeliveries(api, app, webhook.webhook_id))[0]!;
  return { app, receiver, webhookId: webhook.webhook_id, only };
}

test('a failed delivery is retried by the schedule, then the endpoint is disabled with an event', async () => {
  const { app, receiver, webhookId, only } = await scene((response) =>
    response.writeHead(500).end('out of order'),
  );
  const watcher = await startReceiver();
  await newWebhook(api, app, watcher.url, ['webhook.disabled']);
  const began = clock.now();
  await banNetwork(api, app);
  for (const [index, delay] of SCHEDULE.entries()) {
    const attempts = index + 1;
    await expect.poll(async () => (await only()).attempts).toBe(attempts);
    const delivery = await only();
    expect(delivery).toMatchObject({
      state: 'pending',
      response_status: 500,
      error: 'The response status was 500.',
    });
    const waited = Date.parse(delivery.next_attempt_at!) - clock.now().getTime();
    expect(waited).toBeGreaterThanOrEqual(delay);
    expect(waited).toBeLessThanOrEqual(delay * 1.1 + 1);
    expect(await getWebhook(api, app, webhookId)).toMatchObject({
      enabled: true,
      failing_since: began.toISOString(),
    });
    clock.advance(waited - 1);
    const early = receiver.received.length;
    // Meanwhile, others are sent and this one is not.
    const bystander = await startReceiver();
    const probe = await newWebhook(api, app, bystander.url);
    await callWebhooks(api, app, 'POST', [probe.webhook_id, 'test']);
    await expect.poll(() => bystander.ids('webhook.test')).toHaveLength(1);
    expect(receiver.received).toHaveLength(early);
    await callWebhooks(api, app, 'DELETE', [probe.webhook_id]);
    clock.advance(1);
  }
  await expect.poll(async () => (await only()).state).toBe('failed');
  expect(await only()).toMatchObject({ attempts: 10, next_attempt_at: null });
  expect(new Set(receiver.ids()).size).toBe(1);
  expect(receiver.ids()).toHaveLength(10);
  expect(clock.now().getTime() - began.getTime()).toBeGreaterThan(3 * DAY);

  const reason = 'No delivery has succeeded for 3 days. The response status was 500.';
  expect(await getWebhook(api, app, webhookId)).toMatchObject({
    enabled: false,
    disabled_reason: reason,
    disabled_at: clock.now().toISOString(),
  });
  await expect.poll(() => watcher.ids('webhook.disabled')).toHaveLength(1);
  expect(watcher.received[0]!.message.data).toEqual({ webhook_id: webhookId, reason });

  const { attempt_log } = await getDelivery(api, app, webhookId, (await only()).delivery_id);
  expect(attempt_log.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(new Set(attempt_log.map(({ response_body }) => response_body))).toEqual(new Set(['out of order']));

  // Events during the time when it is disabled are not delivered later.
  await banNetwork(api, app);
  receiver.respond(204);
  await callWebhooks(api, app, 'PATCH', [webhookId], { enabled: true });
  await banNetwork(api, app);
  await expect.poll(() => receiver.received.length).toBe(11);
  await expect.poll(async () => (await only()).state).toBe('succeeded');
  expect(await getWebhook(api, app, webhookId)).toMatchObject({
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    failing_since: null,
  });
});

test('a receiver that was down for a day gets everything', async () => {
  const { app, receiver, webhookId, only } = await scene(503);
  for (let count = 0; count < 25; count += 1) await banNetwork(api, app, `203.0.113.${count}`);
  await expect.poll(() => new Set(receiver.ids()).size).toBe(25);
  const all = new Set(receiver.ids());
  // Each response must be recorded before the clock advances, or its next attempt counts from then.
  const noneIsDue = async () =>
    (await listDeliveries(api, app, webhookId, '?limit=100')).every(
      ({ next_attempt_at: next }) => next !== null && new Date(next) > clock.now(),
    );
  for (let hours = 0; hours < 24; hours += 4) {
    await expect.poll(noneIsDue).toBe(true);
    clock.advance(4 * HOUR);
    const before = receiver.received.length;
    if (hours < 12) await expect.poll(() => receiver.received.length).toBeGreaterThan(before);
  }
  receiver.respond(204);
  clock.advance(22 * HOUR);
  const states = async () =>
    new Set((await listDeliveries(api, app, webhookId, '?limit=100')).map(({ state }) => state));
  await expect.poll(states).toEqual(new Set(['succeeded']));
  expect(new Set(receiver.ids())).toEqual(all);
  expect((await getWebhook(api, app, webhookId)).failing_since).toBeNull();
  expect((await only()).next_attempt_at).toBeNull();
});

test('410 disables the endpoint at once, and other deliveries wait', async () => {
  const { app, receiver, webhookId, only } = await scene(410);
  await banNetwork(api, app);
  await expect.poll(async () => (await only()).state).toBe('failed');
  expect(await only()).toMatchObject({
    attempts: 1,
    response_status: 410,
    error: 'The response status was 410.',
  });
  expect(await getWebhook(api, app, webhookId)).toMatchObject({
    enabled: false,
    disabled_reason: 'The endpoint responded with 410 Gone.',
  });
  await banNetwork(api, app);
  expect(receiver.received).toHaveLength(1);
});

describe('Retry-After', () => {
  test.each([
    [429, '120', 120 * SECOND],
    [503, '3600', HOUR],
    [503, () => new Date(clock.now().getTime() + 2 * HOUR).toUTCString(), 2 * HOUR],
    [503, '999999999', DAY],
    [429, '0', 5 * SECOND],
    [429, 'soon', 5 * SECOND],
    [503, 'Thu, 01 Jan 1970 00:00:00 GMT', 5 * SECOND],
    [500, '3600', 5 * SECOND],
  ])('of %d with %s', async (status, header, waits) => {
    const value = typeof header === 'string' ? header : header();
    const { app, only } = await scene((response) =>
      response.writeHead(status, { 'retry-after': value }).end(),
    );
    await banNetwork(api, app);
    await expect.poll(async () => (await only()).attempts).toBe(1);
    const waited = Date.parse((await only()).next_attempt_at!) - clock.now().getTime();
    const slack = waits === 5 * SECOND ? 501 : 0;
    // HTTP dates have whole seconds.
    expect(waited).toBeGreaterThanOrEqual(waits - SECOND);
    expect(waited).toBeLessThanOrEqual(waits + slack);
  });
});

test.each([
  [200, null],
  [299, null],
  [300, 'The response status was 300: redirects are not followed.'],
  [302, 'The response status was 302: redirects are not followed.'],
  [404, 'The response status was 404.'],
  [599, 'The response status was 599.'],
])('a response of %d', async (status, error) => {
  const { app, only } = await scene((response) =>
    response.writeHead(status, { location: 'http://127.0.0.1/' }).end(),
  );
  await banNetwork(api, app);
  await expect.poll(async () => (await only()).attempts).toBe(1);
  expect(await only()).toMatchObject({
    state: error === null ? 'succeeded' : 'pending',
    response_status: status,
    error,
  });
});

test('the first KiB of a response is kept as text, also if it is binary', async () => {
  const { app, webhookId, only } = await scene((response) => {
    response.writeHead(500);
    response.end(Buffer.concat([Buffer.from([0, 0xff, 0x41]), Buffer.alloc(100_000, 'x')]));
  });
  await banNetwork(api, app);
  await expect.poll(async () => (await only()).attempts).toBe(1);
  const { attempt_log } = await getDelivery(api, app, webhookId, (await only()).delivery_id);
  expect(attempt_log[0]!.response_body).toBe(`\ufffd\ufffdA${'x'.repeat(1021)}`);
});

test('a refused connection is a failed attempt with an error', async () => {
  const { app, receiver, webhookId, only } = await scene(204);
  await callWebhooks(api, app, 'PATCH', [webhookId], { url: receiver.url.replace(/:\d+/, ':1999') });
  await banNetwork(api, app);
  await expect.poll(async () => (await only()).attempts).toBe(1);
  expect(await only()).toMatchObject({ response_status: null, error: 'The connection was refused.' });
});

test('an endpoint that is disabled while a delivery waits receives it once it is enabled again', async () => {
  const { app, receiver, webhookId, only } = await scene(500);
  await banNetwork(api, app);
  await expect.poll(async () => (await only()).attempts).toBe(1);
  await callWebhooks(api, app, 'PATCH', [webhookId], { enabled: false });
  receiver.respond(200);
  clock.advance(HOUR);
  await callWebhooks(api, app, 'PATCH', [webhookId], { enabled: true });
  await expect.poll(async () => (await only()).state).toBe('succeeded');
  expect((await only()).attempts).toBe(2);
});
