import type { components } from '../../../generated/types.ts';
import type { ApiResponse, Api } from '../../support/api.ts';
import type { App } from '../../support/fixtures.ts';

export type Schemas = components['schemas'];

/** Receivers of tests listen on loopback addresses. */
export const LOOPBACK = { WEBHOOK_NETWORKS: '127.0.0.0/8' };

export type NewWebhook = Schemas['CreateWebhookResult'];

type Caller = Pick<App, 'app_id' | 'token'>;

/** The path of an application's endpoints, or below one of them. */
export function pathOf({ app_id }: Pick<App, 'app_id'>, ...parts: string[]): string {
  return [`/api/v2/dev/apps/${app_id}/webhooks`, ...parts].join('/');
}

/** Calls an operation on endpoints. */
export function callWebhooks<Body = Record<string, unknown>>(
  api: Api,
  app: Caller,
  method: string,
  parts: readonly string[],
  body?: unknown,
): Promise<ApiResponse<Body>> {
  return api.call<Body>(method, pathOf(app, ...parts), body, { token: app.token });
}

/** Adds an endpoint that receives all events. */
export async function newWebhook(
  api: Api,
  app: Caller,
  url: string,
  types: readonly string[] = ['*'],
): Promise<NewWebhook> {
  const { status, body } = await callWebhooks<NewWebhook>(api, app, 'POST', [], { url, types });
  if (status !== 201) throw new Error(`createWebhook returned ${status} ${JSON.stringify(body)}`);
  return body;
}

export async function getWebhook(api: Api, app: Caller, webhookId: string): Promise<Schemas['Webhook']> {
  return (await callWebhooks<Schemas['WebhookResult']>(api, app, 'GET', [webhookId])).body;
}

export async function listDeliveries(
  api: Api,
  app: Caller,
  webhookId: string,
  query = '',
): Promise<Schemas['WebhookDelivery'][]> {
  const parts = [webhookId, `deliveries${query}`];
  return (await callWebhooks<Schemas['WebhookDeliveryList']>(api, app, 'GET', parts)).body.data;
}

export async function getDelivery(
  api: Api,
  app: Caller,
  webhookId: string,
  deliveryId: string,
): Promise<Schemas['WebhookDeliveryDetailsResult']> {
  const parts = [webhookId, 'deliveries', deliveryId];
  return (await callWebhooks<Schemas['WebhookDeliveryDetailsResult']>(api, app, 'GET', parts)).body;
}

/** The application with a token that lasts for days. */
export async function withLastingToken<Application extends App>(
  api: Api,
  app: Application,
): Promise<Application> {
  const wanted = { name: 'lasting', scopes: ['read', 'write', 'auth:dev'] };
  const { body } = await api.post<Schemas['CreateApiTokenResult']>('/api/v2/dev/tokens', wanted, {
    token: app.token,
  });
  return { ...app, token: body.token };
}

/** Causes an event of the type `ban.created`. */
export async function banNetwork(api: Api, app: Caller, address = '203.0.113.1'): Promise<void> {
  const ban = { kind: 'network', network: address };
  const { status } = await api.post(`/api/v2/dev/apps/${app.app_id}/bans`, ban, { token: app.token });
  if (status !== 201) throw new Error(`createBan returned ${status}`);
}
