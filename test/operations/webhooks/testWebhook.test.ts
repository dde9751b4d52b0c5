import { expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectForeignAbsent, expectScope } from '../../webhooks/support/foreign.ts';
import { startReceiver } from '../../webhooks/support/receiver.ts';
import {
  callWebhooks,
  getDelivery,
  getWebhook,
  LOOPBACK,
  newWebhook,
  pathOf,
  withLastingToken,
  type Schemas,
} from '../../webhooks/support/webhooks.ts';
import { expectError } from '../support/errors.ts';

const { api, clock } = await startTestService(LOOPBACK);

const scene = async (behavior = 204) => {
  const app = await withLastingToken(api, await newApp(api));
  const receiver = await startReceiver(behavior);
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['user.banned']);
  const send = () => callWebhooks<Schemas['WebhookDeliveryResult']>(api, app, 'POST', [webhook_id, 'test']);
  return { app, receiver, webhook_id, send };
};

test('sends webhook.test only to this endpoint, regardless of its types', async () => {
  const { app, receiver, webhook_id, send } = await scene();
  const other = await startReceiver();
  await newWebhook(api, app, other.url);
  const { status, body } = await send();
  expect(status).toBe(202);
  expect(body).toMatchObject({
    cause: 'test',
    state: 'pending',
    attempts: 0,
    event: { type: 'webhook.test' },
  });
  await expect
    .poll(() => receiver.received.map(({ message }) => message))
    .toEqual([
      {
        id: body.event.id,
        type: 'webhook.test',
        timestamp: clock.now().toISOString(),
        app_id: app.app_id,
        user_id: null,
        data: { webhook_id },
      },
    ]);
  const sent = () => getDelivery(api, app, webhook_id, body.delivery_id);
  await expect.poll(async () => (await sent()).state).toBe('succeeded');
  expect(other.ids('webhook.test')).toEqual([]);
});

test('is not retried, and says nothing about the endpoint', async () => {
  const { app, receiver, webhook_id, send } = await scene(500);
  const { delivery_id } = (await send()).body;
  const sent = () => getDelivery(api, app, webhook_id, delivery_id);
  await expect.poll(async () => (await sent()).state).toBe('failed');
  expect(await sent()).toMatchObject({ attempts: 1, response_status: 500, next_attempt_at: null });
  clock.advance(4 * DAY);
  await send();
  await expect.poll(() => receiver.ids()).toHaveLength(2);
  expect(await getWebhook(api, app, webhook_id)).toMatchObject({ enabled: true, failing_since: null });
});

test('WEBHOOK_DISABLED', async () => {
  const { app, webhook_id, send } = await scene();
  await callWebhooks(api, app, 'PATCH', [webhook_id], { enabled: false });
  expectError(await send(), 409, 'WEBHOOK_DISABLED');
});

test('with an Idempotency-Key it is sent once', async () => {
  const { app, receiver, webhook_id } = await scene();
  const send = () =>
    api.call('POST', pathOf(app, webhook_id, 'test'), undefined, {
      token: app.token,
      headers: { 'idempotency-key': 'k' },
    });
  const responses = [await send(), await send()];
  expect(responses[1]!.body).toEqual(responses[0]!.body);
  await expect.poll(() => receiver.ids()).toHaveLength(1);
});

test('another developer’s counts as absent', () => expectForeignAbsent(api, 'POST', ['test']));
test('INSUFFICIENT_SCOPE without auth:dev', () => expectScope(api, 'POST', (id) => [id, 'test']));
