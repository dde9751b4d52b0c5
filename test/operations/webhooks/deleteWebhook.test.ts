import { expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectForeignAbsent, expectScope } from '../../webhooks/support/foreign.ts';
import { startReceiver } from '../../webhooks/support/receiver.ts';
import { callWebhooks, banNetwork, LOOPBACK, newWebhook } from '../../webhooks/support/webhooks.ts';
import { expectError } from '../support/errors.ts';

const { api, clock, databaseUrl, services } = await startTestService(LOOPBACK);

test('nothing is sent afterwards, and its rows are cleared', async () => {
  const app = await newApp(api);
  const [receiver, witness] = [await startReceiver(500), await startReceiver()];
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created']);
  await newWebhook(api, app, witness.url, ['ban.created', 'webhook.deleted']);
  await banNetwork(api, app);
  await expect.poll(() => receiver.ids()).toHaveLength(1);
  expect((await callWebhooks(api, app, 'DELETE', [webhook_id])).status).toBe(200);
  await expect.poll(() => witness.ids('webhook.deleted')).toHaveLength(1);
  for (const [method, parts] of [
    ['GET', [webhook_id]],
    ['DELETE', [webhook_id]],
    ['GET', [webhook_id, 'deliveries']],
  ] as const) {
    expectError(await callWebhooks(api, app, method, parts), 404, 'WEBHOOK_NOT_FOUND');
  }
  clock.advance(60_000);
  await banNetwork(api, app, '203.0.113.2');
  await expect.poll(() => witness.ids('ban.created')).toHaveLength(2);
  expect(receiver.ids()).toHaveLength(1);

  const database = await connectTo(databaseUrl);
  const rows = async (table: string) =>
    (await database.query(`select from ${table} where webhook_id = $1`, [webhook_id])).rowCount;
  while ((await services.webhooks.clearExpired()) > 0);
  expect(await rows('webhook_deliveries')).toBe(0);
  expect(await rows('webhooks')).toBe(1);
  clock.advance(DAY);
  while ((await services.webhooks.clearExpired()) > 0);
  expect(await rows('webhooks')).toBe(0);
});

test('deliveries are cleared after 30 days, and with their application', async () => {
  const app = await newApp(api);
  const receiver = await startReceiver();
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created']);
  await banNetwork(api, app);
  await expect.poll(() => receiver.ids()).toHaveLength(1);
  const database = await connectTo(databaseUrl);
  const rows = async () =>
    (await database.query('select from webhook_deliveries where webhook_id = $1', [webhook_id])).rowCount;
  clock.advance(30 * DAY - 1);
  while ((await services.webhooks.clearExpired()) > 0);
  expect(await rows()).toBe(1);
  clock.advance(2);
  while ((await services.webhooks.clearExpired()) > 0);
  expect(await rows()).toBe(0);

  const other = await newApp(api);
  const kept = await newWebhook(api, other, receiver.url, ['ban.created']);
  await banNetwork(api, other);
  await expect.poll(() => receiver.ids()).toHaveLength(2);
  while ((await services.webhooks.clearOf(app.app_id)) > 0);
  const ofOther = 'select from webhook_deliveries where webhook_id = $1';
  expect((await database.query(ofOther, [kept.webhook_id])).rowCount).toBe(1);
  while ((await services.webhooks.clearOf(other.app_id)) > 0);
  expect((await database.query(ofOther, [kept.webhook_id])).rowCount).toBe(0);
});

test('another developer’s counts as absent', () => expectForeignAbsent(api, 'DELETE'));
test('INSUFFICIENT_SCOPE without auth:dev', () => expectScope(api, 'DELETE', (id) => [id]));
