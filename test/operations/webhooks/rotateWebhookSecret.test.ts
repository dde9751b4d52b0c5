import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectForeignAbsent, expectScope } from '../../webhooks/support/foreign.ts';
import { callWebhooks, newWebhook, pathOf, type Schemas } from '../../webhooks/support/webhooks.ts';
import { expectFaults } from '../support/errors.ts';

const service = await startTestService();
const { api, clock } = service;

const scene = async () => {
  const app = await newApp(api);
  const { webhook_id, secret } = await newWebhook(api, app, 'https://example.com/');
  const rotate = (body: unknown) =>
    callWebhooks<Schemas['RotateWebhookSecretResult']>(api, app, 'POST', [webhook_id, 'rotate-secret'], body);
  return { app, webhook_id, secret, rotate };
};
const inSeconds = (seconds: number) => new Date(clock.now().getTime() + seconds * SECOND).toISOString();

// test/webhooks/signatures.test.ts checks that both secrets sign meanwhile.
test.each([
  [{}, 86_400],
  [{ overlap_seconds: 0 }, 0],
  [{ overlap_seconds: 1 }, 1],
  [{ overlap_seconds: 604_800 }, 604_800],
])('gives another secret, after %j', async (body, seconds) => {
  const { webhook_id, secret, rotate } = await scene();
  const response = await rotate(body);
  expect(response.body).toEqual({
    status: 'success',
    webhook_id,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
    previous_secret_expires_at: inSeconds(seconds),
  });
  expect(response.body.secret).not.toBe(secret);
});

test('is in the audit log without any secret', async () => {
  const { app, webhook_id, secret, rotate } = await scene();
  const { body } = await rotate({});
  const log = await api.call('GET', '/api/v2/dev/audit-log?action=webhook.secret_rotated', undefined, app);
  expect(log.body['data']).toMatchObject([{ target: webhook_id, data: { webhook_id } }]);
  for (const each of [secret, body.secret]) expect(JSON.stringify(log.body)).not.toContain(each);
});

test('the previous secret is deleted after its overlap', async () => {
  const { webhook_id, rotate } = await scene();
  await rotate({ overlap_seconds: 60 });
  const clear = async () => {
    while ((await service.services.webhooks.clearPreviousSecrets()) > 0);
    return service.database
      .knex('webhooks')
      .where({ webhook_id })
      .first('previous_secret_sealed', 'previous_secret_expires_at');
  };
  clock.advance(60 * SECOND - 1);
  expect((await clear()).previous_secret_sealed).toBeInstanceOf(Buffer);
  clock.advance(1);
  expect(await clear()).toEqual({ previous_secret_sealed: null, previous_secret_expires_at: null });
});

test('with an Idempotency-Key it is replaced once', async () => {
  const { app, webhook_id } = await scene();
  const send = () =>
    api.post(
      pathOf(app, webhook_id, 'rotate-secret'),
      {},
      { token: app.token, headers: { 'idempotency-key': 'k' } },
    );
  const first = await send();
  expect((await send()).body).toEqual(first.body);
});

test.each([
  [{ overlap_seconds: -1 }, '/overlap_seconds'],
  [{ overlap_seconds: 604_801 }, '/overlap_seconds'],
  [{ overlap_seconds: 1.5 }, '/overlap_seconds'],
  [{ overlap_seconds: null }, '/overlap_seconds'],
])('VALIDATION_FAILED for %j', async (body, pointer) => {
  const { rotate } = await scene();
  expectFaults(await rotate(body), pointer);
});

test('another developer’s counts as absent', () => expectForeignAbsent(api, 'POST', ['rotate-secret'], {}));
test('INSUFFICIENT_SCOPE without auth:dev', () =>
  expectScope(api, 'POST', (id) => [id, 'rotate-secret'], {}));
