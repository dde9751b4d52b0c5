import { expect } from 'vitest';
import { comparable, expectError } from '../../operations/support/errors.ts';
import type { Api } from '../../support/api.ts';
import { newApp } from '../../support/fixtures.ts';
import { callWebhooks, newWebhook } from './webhooks.ts';

const NOWHERE = 'http://8.8.8.8/';
const ABSENT = { app: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', webhook: 'whk_01kazmd4p1e6rvk3s5t7w9x1yz' };

/**
 * Expects that an operation treats an endpoint of another developer or application like one that does not exist.
 * @param parts what follows the endpoint in the path
 */
export async function expectForeignAbsent(
  api: Api,
  method: string,
  parts: readonly string[] = [],
  body?: unknown,
): Promise<void> {
  const [app, other] = [await newApp(api), await newApp(api)];
  const { webhook_id } = await newWebhook(api, app, NOWHERE);
  const at = (app_id: string, token: string, id: string) =>
    callWebhooks(api, { app_id, token }, method, [id, ...parts], body);
  const foreign = await at(app.app_id, other.token, webhook_id);
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await at(ABSENT.app, other.token, webhook_id))).toEqual(comparable(foreign));
  const elsewhere = await at(other.app_id, other.token, webhook_id);
  expectError(elsewhere, 404, 'WEBHOOK_NOT_FOUND');
  expect(comparable(await at(other.app_id, other.token, ABSENT.webhook))).toEqual(comparable(elsewhere));
}

/** Expects that a token without the scope `auth:dev` is refused. */
export async function expectScope(
  api: Api,
  method: string,
  parts: (webhookId: string) => readonly string[],
  body?: unknown,
): Promise<void> {
  const app = await newApp(api);
  const { webhook_id } = await newWebhook(api, app, NOWHERE);
  const wanted = { name: 'weak', scopes: ['read', 'write'] };
  const { body: made } = await api.post<{ token: string }>('/api/v2/dev/tokens', wanted, {
    token: app.token,
  });
  const weak = { app_id: app.app_id, token: made.token };
  expectError(await callWebhooks(api, weak, method, parts(webhook_id), body), 403, 'INSUFFICIENT_SCOPE');
}
