import { expect, test } from 'vitest';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startReceiver, type Receiver } from './support/receiver.ts';
import { getWebhook, banNetwork, LOOPBACK, newWebhook } from './support/webhooks.ts';

const { api } = await startTestService(LOOPBACK);

/** A receiver that never responds. @returns it, and the largest number of open requests so far */
async function startSilent(): Promise<{ readonly silent: Receiver; readonly most: () => number }> {
  let open = 0;
  let most = 0;
  const silent = await startReceiver((response) => {
    open += 1;
    most = Math.max(most, open);
    response.once('close', () => (open -= 1));
  });
  return { silent, most: () => most };
}

test('an endpoint that never responds gets ten requests at once, and delays no other', async () => {
  const app = await newApp(api);
  const { silent, most } = await startSilent();
  const quick = await startReceiver();
  await newWebhook(api, app, silent.url, ['license.created']);
  const { webhook_id } = await newWebhook(api, app, quick.url, ['license.created']);
  await app.keys(1);
  await expect.poll(async () => (await getWebhook(api, app, webhook_id)).failing_since).toBeNull();
  for (let count = 0; count < 60; count += 1) await app.keys(1);
  await expect.poll(() => new Set(quick.ids()).size).toBe(61);
  expect(quick.ids()).toHaveLength(61);
  expect(most()).toBeLessThanOrEqual(10);
});

test('many endpoints that never respond leave slots for those that do', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const quick = await startReceiver();
  await newWebhook(api, app, quick.url, ['ban.created']);
  await banNetwork(api, app);
  await expect.poll(() => quick.ids()).toHaveLength(1);

  const { silent, most } = await startSilent();
  const others = [await newApp(api), await newApp(api), await newApp(api), await newApp(api)];
  for (const other of others) {
    for (let count = 0; count < 20; count += 1) await newWebhook(api, other, silent.url, ['ban.created']);
  }
  for (const other of others) await banNetwork(api, other);
  await expect.poll(() => silent.received.length).toBeGreaterThanOrEqual(30);
  for (let count = 0; count < 20; count += 1) await banNetwork(api, app, `203.0.113.${count}`);
  await expect.poll(() => quick.ids()).toHaveLength(21);
  // They may use half of the slots.
  expect(most()).toBeLessThanOrEqual(32);
});
