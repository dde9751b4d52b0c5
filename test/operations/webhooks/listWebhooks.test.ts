import { describe, expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectScope } from '../../webhooks/support/foreign.ts';
import { callWebhooks, newWebhook, type Schemas } from '../../webhooks/support/webhooks.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';

const { api } = await startTestService();
const list = (app: { app_id: string; token: string }, query = '') =>
  api.call<Schemas['WebhookList']>('GET', `/api/v2/dev/apps/${app.app_id}/webhooks${query}`, undefined, {
    token: app.token,
  });

describe('pages', async () => {
  const app = await newApp(api);
  const made: string[] = [];
  for (let count = 0; count < 13; count += 1) {
    made.unshift((await newWebhook(api, app, `https://example.com/${count}`)).webhook_id);
  }

  test.each([1, 5, 13, 100])('of %d: complete, newest first, without overlap', async (limit) => {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await list(app, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data.map(({ webhook_id }) => webhook_id));
      cursor = body.next_cursor;
    }
    expect(found).toEqual(made);
  });

  test('contain no secret', async () => {
    expect(JSON.stringify((await list(app)).body)).not.toContain('whsec_');
  });
});

test('disabled ones are listed, deleted ones and those of others are not', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const kept = await newWebhook(api, app, 'https://example.com/');
  const gone = await newWebhook(api, app, 'https://example.com/');
  await newWebhook(api, other, 'https://example.com/');
  await callWebhooks(api, app, 'PATCH', [kept.webhook_id], { enabled: false });
  await callWebhooks(api, app, 'DELETE', [gone.webhook_id]);
  expect((await list(app)).body.data).toMatchObject([{ webhook_id: kept.webhook_id, enabled: false }]);
});

test('APPLICATION_NOT_FOUND is the same for another developer’s and an absent one', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const foreign = await list({ app_id: app.app_id, token: other.token });
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  const absent = await list({ app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token: other.token });
  expect(comparable(absent)).toEqual(comparable(foreign));
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  expectFaults(await list(await newApp(api), query), pointer);
});

test('INSUFFICIENT_SCOPE without auth:dev', () => expectScope(api, 'GET', () => []));
