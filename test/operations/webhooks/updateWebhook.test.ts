import { describe, expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectForeignAbsent, expectScope } from '../../webhooks/support/foreign.ts';
import { startReceiver } from '../../webhooks/support/receiver.ts';
import {
  callWebhooks,
  getWebhook,
  banNetwork,
  LOOPBACK,
  newWebhook,
  type Schemas,
} from '../../webhooks/support/webhooks.ts';
import { expectFaults } from '../support/errors.ts';
import { auditOf } from '../support/variables.ts';

const { api, clock } = await startTestService(LOOPBACK);

const scene = async () => {
  const app = await newApp(api);
  const receiver = await startReceiver();
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created']);
  const patch = (changes: unknown) =>
    callWebhooks<Schemas['WebhookResult']>(api, app, 'PATCH', [webhook_id], changes);
  return { app, receiver, webhook_id, patch };
};

test('changes what is sent, and nothing else', async () => {
  const { app, webhook_id, patch } = await scene();
  const before = await getWebhook(api, app, webhook_id);
  clock.advance(SECOND);
  const updated_at = clock.now().toISOString();
  for (const changes of [
    { description: 'a remark' },
    { types: ['*'] },
    { url: 'https://example.com/other' },
    { description: null },
    { enabled: false },
  ]) {
    const { status, body } = await patch(changes);
    expect({ status, body: { ...body, ...changes } }).toEqual({ status: 200, body });
    expect(await getWebhook(api, app, webhook_id)).toEqual(body);
  }
  expect(await getWebhook(api, app, webhook_id)).toEqual({
    ...before,
    types: ['*'],
    url: 'https://example.com/other',
    enabled: false,
    disabled_at: updated_at,
    updated_at,
  });
});

test('an empty change changes nothing', async () => {
  const { app, webhook_id, patch } = await scene();
  const before = await getWebhook(api, app, webhook_id);
  clock.advance(SECOND);
  expect((await patch({})).body).toEqual(before);
});

test('a disabled endpoint gets no events, and does not get the missed ones later', async () => {
  const { app, receiver, patch } = await scene();
  await patch({ enabled: false });
  const witness = await startReceiver();
  await newWebhook(api, app, witness.url, ['ban.created']);
  await banNetwork(api, app, '203.0.113.1');
  await expect.poll(() => witness.ids()).toHaveLength(1);
  await patch({ enabled: true });
  await banNetwork(api, app, '203.0.113.2');
  await expect.poll(() => witness.ids()).toHaveLength(2);
  await expect.poll(() => receiver.ids()).toEqual([witness.ids()[1]]);
});

test('other endpoints get an event with the changes, without the URL', async () => {
  const { app, webhook_id, patch } = await scene();
  const witness = await startReceiver();
  await newWebhook(api, app, witness.url, ['webhook.updated']);
  await patch({ url: 'https://example.com/secret', enabled: false });
  await expect
    .poll(() => witness.received.map(({ message }) => message.data))
    .toEqual([{ webhook_id, changed: ['url', 'enabled'], enabled: false }]);
});

test('the audit log has the new values, and only the fact that the URL changed', async () => {
  const { app, webhook_id, patch } = await scene();
  await patch({
    url: 'https://example.com/secret',
    types: ['ban.lifted'],
    description: null,
    enabled: false,
  });
  const [entry] = (await auditOf(api, app)) as { data: object }[];
  expect(entry!.data).toEqual({
    webhook_id,
    changed: ['url', 'types', 'description', 'enabled'],
    types: ['ban.lifted'],
    description: null,
    enabled: false,
  });
});

describe('VALIDATION_FAILED', () => {
  test.each([
    [{ url: 'http://10.0.0.1/' }, '/url'],
    [{ url: null }, '/url'],
    [{ types: ['no.such_type'] }, '/types/0'],
    [{ types: [] }, '/types'],
    [{ enabled: 'yes' }, '/enabled'],
    [{ enabled: null }, '/enabled'],
  ])('%j, and nothing changes', async (changes, pointer) => {
    const { app, webhook_id, patch } = await scene();
    const before = await getWebhook(api, app, webhook_id);
    expectFaults(await patch({ description: 'a', ...changes }), pointer);
    expect(await getWebhook(api, app, webhook_id)).toEqual(before);
  });
});

test('another developer’s counts as absent', () =>
  expectForeignAbsent(api, 'PATCH', [], { url: 'http://10.0.0.1/' }));
test('INSUFFICIENT_SCOPE without auth:dev', () =>
  expectScope(api, 'PATCH', (id) => [id], { enabled: false }));
