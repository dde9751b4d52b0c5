import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { newApp } from '../support/fixtures.ts';
import { spawnService } from '../support/processes.ts';
import { startReceiver } from './support/receiver.ts';
import { banNetwork, listDeliveries, LOOPBACK, newWebhook } from './support/webhooks.ts';

// Names that resolve to private addresses, and rebinding ones, are in test/platform/outbound-http.test.ts.
test('a private address that is no longer allowed is not reached, and the delivery says so', async () => {
  const environment = {
    DATABASE_URL: await createTestDatabase(),
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
  };
  const generous = await spawnService({ ...environment, ...LOOPBACK });
  const app = await newApp(generous.api);
  const receiver = await startReceiver();
  const { webhook_id } = await newWebhook(generous.api, app, receiver.url, ['ban.created']);
  expect(await generous.end('SIGTERM')).toBe(0);

  const { api } = await spawnService(environment);
  await banNetwork(api, app);
  const only = async () => (await listDeliveries(api, app, webhook_id))[0];
  await expect.poll(async () => (await only())?.attempts).toBeGreaterThanOrEqual(1);
  expect(await only()).toMatchObject({
    state: 'pending',
    response_status: null,
    error: 'The URL must not be a private, local or reserved address.',
  });
  expect(receiver.received).toEqual([]);
});
