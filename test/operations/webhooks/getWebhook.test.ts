import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectForeignAbsent, expectScope } from '../../webhooks/support/foreign.ts';
import { getWebhook, newWebhook } from '../../webhooks/support/webhooks.ts';

const { api } = await startTestService();

test('shows the endpoint without its secret', async () => {
  const app = await newApp(api);
  const { secret, ...webhook } = await newWebhook(api, app, 'https://example.com/', ['user.banned']);
  expect(await getWebhook(api, app, webhook.webhook_id)).toEqual(webhook);
  expect(secret).toMatch(/^whsec_/);
});

test('another developer’s counts as absent', () => expectForeignAbsent(api, 'GET'));
test('INSUFFICIENT_SCOPE without auth:dev', () => expectScope(api, 'GET', (id) => [id]));
