import { expect, test } from 'vitest';
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
import { expectError } from '../support/errors.ts';

const { api } = await startTestService(LOOPBACK);
const ABSENT = 'dlv_01kazmdg7tf5fs2m4n6p8q0r1v';

const scene = async () => {
  const app = await newApp(api);
  const receiver = await startReceiver();
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created']);
  await banNetwork(api, app);
  await expect.poll(() => receiver.ids()).toHaveLength(1);
  const [delivery] = await listDeliveries(api, app, webhook_id);
  const replay = (id = delivery!.delivery_id) =>
    callWebhooks<Schemas['WebhookDeliveryResult']>(api, app, 'POST', [
      webhook_id,
      'deliveries',
      id,
      'replay',
    ]);
  return { app, receiver, webhook_id, delivery: delivery!, replay };
};

test('sends the same event again, as a separate delivery', async () => {
  const { app, receiver, webhook_id, delivery, replay } = await scene();
  const { status, body } = await replay();
  expect(status).toBe(202);
  expect(body).toMatchObject({ cause: 'replay', state: 'pending', attempts: 0, event: delivery.event });
  expect(body.delivery_id).not.toBe(delivery.delivery_id);
  await expect.poll(() => receiver.ids()).toEqual([delivery.event.id, delivery.event.id]);
  expect(receiver.received[1]!.body).toBe(receiver.received[0]!.body);
  await expect
    .poll(async () => (await listDeliveries(api, app, webhook_id)).map(({ state }) => state))
    .toEqual(['succeeded', 'succeeded']);
});

test('with an Idempotency-Key it is sent once', async () => {
  const { app, receiver, webhook_id, delivery } = await scene();
  const path = pathOf(app, webhook_id, 'deliveries', delivery.delivery_id, 'replay');
  const send = () =>
    api.call('POST', path, undefined, { token: app.token, headers: { 'idempotency-key': 'k' } });
  const responses = [await send(), await send()];
  expect(responses[1]!.body).toEqual(responses[0]!.body);
  await expect.poll(() => receiver.ids()).toHaveLength(2);
  expect(await listDeliveries(api, app, webhook_id)).toHaveLength(2);
});

test('WEBHOOK_DISABLED and DELIVERY_NOT_FOUND create no delivery', async () => {
  const { app, webhook_id, replay } = await scene();
  expectError(await replay(ABSENT), 404, 'DELIVERY_NOT_FOUND');
  await callWebhooks(api, app, 'PATCH', [webhook_id], { enabled: false });
  expectError(await replay(), 409, 'WEBHOOK_DISABLED');
  expect(await listDeliveries(api, app, webhook_id)).toHaveLength(1);
});

test('another developer’s counts as absent', () =>
  expectForeignAbsent(api, 'POST', ['deliveries', ABSENT, 'replay']));
test('INSUFFICIENT_SCOPE without auth:dev', () =>
  expectScope(api, 'POST', (id) => [id, 'deliveries', ABSENT, 'replay']));
