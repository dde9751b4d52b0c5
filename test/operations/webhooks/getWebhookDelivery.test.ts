import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectForeignAbsent, expectScope } from '../../webhooks/support/foreign.ts';
import { startReceiver } from '../../webhooks/support/receiver.ts';
import {
  callWebhooks,
  getDelivery,
  banNetwork,
  listDeliveries,
  LOOPBACK,
  newWebhook,
} from '../../webhooks/support/webhooks.ts';
import { comparable, expectError } from '../support/errors.ts';

const { api, clock } = await startTestService(LOOPBACK);
const ABSENT = 'dlv_01kazmdg7tf5fs2m4n6p8q0r1v';

test('shows what was sent, and every attempt', async () => {
  const app = await newApp(api);
  const receiver = await startReceiver((response) => response.writeHead(503).end('busy ☕'));
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created']);
  await banNetwork(api, app);
  const only = async () => (await listDeliveries(api, app, webhook_id))[0]!;
  await expect.poll(async () => (await only()).attempts).toBe(1);
  const first = clock.now().toISOString();
  receiver.respond((response) => response.end('taken'));
  clock.advance(6 * SECOND);
  await expect.poll(async () => (await only()).state).toBe('succeeded');
  const listed = await only();
  const { payload, attempt_log, status, ...rest } = await getDelivery(
    api,
    app,
    webhook_id,
    listed.delivery_id,
  );
  expect(rest).toEqual(listed);
  expect(payload).toBe(receiver.received[0]!.body);
  expect(receiver.received[1]!.body).toBe(payload);
  expect(status).toBe('success');
  expect(attempt_log).toEqual([
    {
      attempt: 1,
      attempted_at: first,
      duration_ms: 0,
      response_status: 503,
      response_body: 'busy ☕',
      error: 'The response status was 503.',
    },
    {
      attempt: 2,
      attempted_at: clock.now().toISOString(),
      duration_ms: 0,
      response_status: 200,
      response_body: 'taken',
      error: null,
    },
  ]);
});

test('DELIVERY_NOT_FOUND for an absent one and for another endpoint’s', async () => {
  const app = await newApp(api);
  const receiver = await startReceiver();
  const [one, other] = [
    await newWebhook(api, app, receiver.url),
    await newWebhook(api, app, receiver.url, ['ban.created']),
  ];
  await callWebhooks(api, app, 'POST', [one.webhook_id, 'test']);
  const [delivery] = await listDeliveries(api, app, one.webhook_id);
  const look = (id: string) => callWebhooks(api, app, 'GET', [other.webhook_id, 'deliveries', id]);
  const foreign = await look(delivery!.delivery_id);
  expectError(foreign, 404, 'DELIVERY_NOT_FOUND');
  expect(comparable(await look(ABSENT))).toEqual(comparable(foreign));
});

test('another developer’s counts as absent', () => expectForeignAbsent(api, 'GET', ['deliveries', ABSENT]));
test('INSUFFICIENT_SCOPE without auth:dev', () =>
  expectScope(api, 'GET', (id) => [id, 'deliveries', ABSENT]));
