import { randomBytes } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createKeyring } from '../../src/platform/keyring.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { DAY, SECOND } from '../support/clock.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { newApp } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startReceiver, type Received } from './support/receiver.ts';
import {
  callWebhooks,
  banNetwork,
  LOOPBACK,
  newWebhook,
  type Schemas,
  withLastingToken,
} from './support/webhooks.ts';

const service = await startTestService(LOOPBACK);
const { api, clock } = service;

// The library compares the age of a message with the system clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: clock.now() }));
afterEach(() => void vi.useRealTimers());

function verify(secret: string, { headers, body }: Received): unknown {
  vi.setSystemTime(Number(headers['webhook-timestamp']) * SECOND);
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

describe('a delivery', () => {
  test('verifies with the library of Standard Webhooks', async () => {
    const [app, receiver] = [await newApp(api), await startReceiver()];
    const { secret } = await newWebhook(api, app, receiver.url, ['license.created']);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await app.keys(1);
    await expect.poll(() => receiver.ids()).toHaveLength(1);
    const [delivery] = receiver.received as [Received];
    expect(verify(secret, delivery)).toEqual(delivery.message);
    const timestamp = String(clock.now().getTime() / SECOND);
    expect(delivery.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': delivery.message.id,
      'webhook-timestamp': timestamp,
    });
    expect(delivery.message).toEqual({
      id: expect.stringMatching(/^evt_/) as string,
      type: 'license.created',
      timestamp: clock.now().toISOString(),
      app_id: app.app_id,
      user_id: null,
      data: expect.any(Object) as object,
    });
  });

  test('does not verify after any change, or with another secret', async () => {
    const [app, receiver] = [await newApp(api), await startReceiver()];
    const { secret } = await newWebhook(api, app, receiver.url, ['license.created']);
    await app.keys(1);
    await expect.poll(() => receiver.ids()).toHaveLength(1);
    const [sent] = receiver.received as [Received];
    const bytes = Buffer.from(sent.body);
    for (let index = 0; index < bytes.length; index += 1) {
      const flipped = Buffer.from(bytes);
      flipped[index]! ^= 1;
      expect(() => verify(secret, { ...sent, body: flipped.toString() })).toThrow(WebhookVerificationError);
    }
    const later = {
      ...sent.headers,
      'webhook-timestamp': String(Number(sent.headers['webhook-timestamp']) + 1),
    };
    expect(() => verify(secret, { ...sent, headers: later })).toThrow(WebhookVerificationError);
    const other = { ...sent.headers, 'webhook-id': `${sent.message.id}0` };
    expect(() => verify(secret, { ...sent, headers: other })).toThrow(WebhookVerificationError);
    const stranger = await newWebhook(api, app, receiver.url);
    expect(() => verify(stranger.secret, sent)).toThrow(WebhookVerificationError);
  });
});

describe('during the overlap of a rotation', () => {
  test('both secrets verify, and after it only the new one', async () => {
    const [app, receiver] = [await withLastingToken(api, await newApp(api)), await startReceiver()];
    const { secret: old, webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created']);
    const parts = [webhook_id, 'rotate-secret'];
    const { body } = await callWebhooks<Schemas['RotateWebhookSecretResult']>(api, app, 'POST', parts, {});
    expect(body.secret).not.toBe(old);
    clock.advance(DAY - 1);
    await banNetwork(api, app);
    await expect.poll(() => receiver.ids()).toHaveLength(1);
    const [during] = receiver.received as [Received];
    expect(during.headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    expect(verify(body.secret, during)).toEqual(during.message);
    expect(verify(old, during)).toEqual(during.message);
    clock.advance(1);
    await banNetwork(api, app);
    await expect.poll(() => receiver.ids()).toHaveLength(2);
    const [, after] = receiver.received as [Received, Received];
    expect(after.headers['webhook-signature']).toMatch(/^v1,\S{44}$/);
    expect(verify(body.secret, after)).toEqual(after.message);
    expect(() => verify(old, after)).toThrow(WebhookVerificationError);
  });

  test('of zero seconds, the old secret no longer signs', async () => {
    const [app, receiver] = [await newApp(api), await startReceiver()];
    const { secret: old, webhook_id } = await newWebhook(api, app, receiver.url, ['license.created']);
    const parts = [webhook_id, 'rotate-secret'];
    const { body } = await callWebhooks<Schemas['RotateWebhookSecretResult']>(api, app, 'POST', parts, {
      overlap_seconds: 0,
    });
    await app.keys(1);
    await expect.poll(() => receiver.ids()).toHaveLength(1);
    const [sent] = receiver.received as [Received];
    expect(verify(body.secret, sent)).toEqual(sent.message);
    expect(() => verify(old, sent)).toThrow(WebhookVerificationError);
  });
});

test('secrets survive a rotation of the master key, and the old key is no longer needed', async () => {
  const old = randomBytes(32).toString('base64');
  const databaseUrl = await createTestDatabase();
  const before = await startTestService({ ...LOOPBACK, DATABASE_URL: databaseUrl, MASTER_KEY: old });
  const app = await newApp(before.api);
  const receiver = await startReceiver();
  const { secret, webhook_id } = await newWebhook(before.api, app, receiver.url, ['license.created']);
  const parts = [webhook_id, 'rotate-secret'];
  const rotated = await callWebhooks<Schemas['RotateWebhookSecretResult']>(
    before.api,
    app,
    'POST',
    parts,
    {},
  );

  const fresh = randomBytes(32).toString('base64');
  const both = { ...LOOPBACK, DATABASE_URL: databaseUrl, MASTER_KEY: `${fresh},${old}` };
  const { services } = await startTestService(both);
  while ((await services.webhooks.reseal()) > 0);
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ current: string; previous: string }>(
    `select encode(substring(secret_sealed from 1 for 8), 'hex') as current,
       encode(substring(previous_secret_sealed from 1 for 8), 'hex') as previous from webhooks`,
  );
  const { keyId } = createKeyring([Buffer.from(fresh, 'base64')], systemRandom);
  expect(rows).toEqual([{ current: keyId.toString('hex'), previous: keyId.toString('hex') }]);

  await app.keys(1);
  // The node with only the old key can no longer open it, so another one takes over.
  await expect.poll(() => receiver.ids(), { timeout: 60_000 }).toHaveLength(1);
  const [sent] = receiver.received as [Received];
  for (const each of [secret, rotated.body.secret]) expect(verify(each, sent)).toEqual(sent.message);
}, 120_000);
