import { describe, expect, test, vi } from 'vitest';
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
import { expectFaults } from '../support/errors.ts';

const { api, clock } = await startTestService(LOOPBACK);

describe('deliveries', async () => {
  const app = await newApp(api);
  const receiver = await startReceiver((response, { message }) =>
    response.writeHead(message.type === 'ban.created' ? 200 : 500).end(),
  );
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created', 'license.created']);
  for (let host = 0; host < 7; host += 1) await banNetwork(api, app, `203.0.113.${host}`);
  await app.keys(1);
  await callWebhooks(api, app, 'POST', [webhook_id, 'test']);
  const all = () => listDeliveries(api, app, webhook_id, '?limit=100');
  const attempted = async () =>
    expect((await all()).map(({ attempts }) => attempts)).toEqual(Array(9).fill(1));
  await vi.waitFor(attempted, { timeout: 20_000 });

  test('are shown with their results', async () => {
    const [first] = (await all()).filter(({ event }) => event.type === 'license.created');
    expect(first).toEqual({
      delivery_id: expect.stringMatching(/^dlv_/) as string,
      webhook_id,
      cause: 'event',
      state: 'pending',
      event: { id: expect.stringMatching(/^evt_/) as string, type: 'license.created' },
      attempts: 1,
      response_status: 500,
      duration_ms: 0,
      error: 'The response status was 500.',
      last_attempt_at: clock.now().toISOString(),
      next_attempt_at: expect.any(String) as string,
      created_at: clock.now().toISOString(),
    });
  });

  test.each([1, 4, 9])('in pages of %d: complete, newest first, without overlap', async (limit) => {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = `deliveries?limit=${limit}${cursor && `&cursor=${cursor}`}`;
      const { body } = await api.call<Schemas['WebhookDeliveryList']>(
        'GET',
        pathOf(app, webhook_id, query),
        undefined,
        app,
      );
      found.push(...body.data.map(({ delivery_id }) => delivery_id));
      cursor = body.next_cursor;
    }
    expect(found).toEqual((await all()).map(({ delivery_id }) => delivery_id));
    expect(found).toEqual(found.toSorted().reverse());
  });

  test.each([
    ['?state=succeeded', 7],
    ['?state=pending', 1],
    ['?state=failed', 1],
    ['?type=ban.created', 7],
    ['?type=webhook.test', 1],
    ['?type=no.such_type', 0],
    ['?type=license.created&state=pending', 1],
    ['?type=license.created&state=failed', 0],
  ])('of %s', async (query, amount) => {
    expect(await listDeliveries(api, app, webhook_id, query)).toHaveLength(amount);
  });

  test.each([
    ['?limit=0', 'query/limit'],
    ['?cursor=x', 'query/cursor'],
    ['?state=active', 'query/state'],
    ['?type=', 'query/type'],
  ])('VALIDATION_FAILED for %s', async (query, pointer) => {
    expectFaults(await callWebhooks(api, app, 'GET', [webhook_id, `deliveries${query}`]), pointer);
  });

  test('of one endpoint only', async () => {
    const other = await newWebhook(api, app, receiver.url);
    expect(await listDeliveries(api, app, other.webhook_id)).toEqual([]);
  });
});

test('another developer’s counts as absent', () => expectForeignAbsent(api, 'GET', ['deliveries']));
test('INSUFFICIENT_SCOPE without auth:dev', () => expectScope(api, 'GET', (id) => [id, 'deliveries']));
