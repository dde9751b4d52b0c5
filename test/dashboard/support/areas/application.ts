import type { TestService } from '../../../support/service.ts';
import type { Account } from '../account.ts';
import { appPath, type Area, type DashboardRoute } from '../area.ts';

const HOSTILE = '<img src=x onerror=alert(1)> \u2067evil\u2069 ';

const CONFIG = {
  features: { export: true, cloud: false },
  servers: ['https://eu.example.com', 'https://us.example.com'],
};

interface Prepared {
  readonly webhookId: string;
  readonly disabledId: string;
  readonly deliveryId: string;
}

let prepared: Prepared;

/** Variables, files and endpoints. Deliveries fail at once, because the host does not exist. */
async function prepare(service: TestService, { app, developer }: Account): Promise<void> {
  const { api } = service;
  const path = `/api/v2/dev/apps/${app.app_id}`;
  const { token } = developer;
  for (const [name, value, visibility] of [
    ['config', JSON.stringify(CONFIG), 'session'],
    ['motd', 'Welcome back. Version 1.5 is here.', 'public'],
    [`a_very_long_name.${'x'.repeat(47)}`, HOSTILE.repeat(9), 'session'],
  ] as const) {
    await api.call('PUT', `${path}/variables/${name}`, { value, visibility }, { token });
  }
  for (const [name, version, content] of [
    ['aurora-setup.exe', '1.5.0', 'MZ'.repeat(90_000)],
    [(HOSTILE.replaceAll('\u2067', '').replaceAll('\u2069', '') + 'x'.repeat(128)).slice(0, 128), '1', 'a'],
  ] as const) {
    const response = await fetch(
      `${service.baseUrl}${path}/files/${encodeURIComponent(name)}?version=${version}&authenticated_only=true`,
      {
        method: 'PUT',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/octet-stream' },
        body: content,
      },
    );
    if (!response.ok) throw new Error(`uploadFile returned ${response.status} ${await response.text()}`);
  }
  prepared = await prepareWebhooks(service, path, token);
}

async function prepareWebhooks(
  { api, database, clock }: TestService,
  path: string,
  token: string,
): Promise<Prepared> {
  const create = async (url: string, types: readonly string[], description: string) => {
    const { status, body } = await api.post<{ webhook_id: string }>(
      `${path}/webhooks`,
      { url, types, description },
      { token },
    );
    if (status !== 201) throw new Error(`createWebhook returned ${status} ${JSON.stringify(body)}`);
    return body.webhook_id;
  };
  const webhookId = await create(
    'https://bot.invalid/latchkey',
    ['user.banned', 'file.uploaded'],
    'Discord bot',
  );
  const disabledId = await create(
    `https://bot.invalid/${'long-'.repeat(60)}`,
    ['ban.lifted'],
    HOSTILE.repeat(6),
  );
  const { body } = await api.post<{ delivery_id: string }>(`${path}/webhooks/${webhookId}/test`, undefined, {
    token,
  });
  await database.knex('webhooks').where({ webhook_id: disabledId }).update({
    enabled: false,
    disabled_reason: 'No delivery has succeeded for 3 days. The connection was refused.',
    disabled_at: clock.now(),
    failing_since: clock.now(),
  });
  return { webhookId, disabledId, deliveryId: body.delivery_id };
}

const webhookPath = (account: Account, id: string) => `${appPath(account)}/webhooks/${id}`;

const routes: readonly DashboardRoute[] = [
  {
    name: 'the machine of a user',
    path: (account) => `${appPath(account)}/users/${account.userId}?tab=machine`,
    shows: 'Running on',
  },
  { name: 'variables', path: (account) => `${appPath(account)}/variables`, shows: 'motd' },
  {
    name: 'a variable with JSON',
    path: (account) => `${appPath(account)}/variables?variable=config`,
    shows: 'JSON, shown here with line breaks',
  },
  { name: 'files', path: (account) => `${appPath(account)}/files`, shows: 'aurora-setup.exe' },
  {
    name: 'a file',
    path: (account) => `${appPath(account)}/files?file=aurora-setup.exe`,
    shows: 'Address for your program',
  },
  { name: 'webhooks', path: (account) => `${appPath(account)}/webhooks`, shows: 'Disabled by failures' },
  {
    name: 'webhooks, creating',
    path: (account) => `${appPath(account)}/webhooks?create=yes`,
    shows: 'Description (optional)',
  },
  {
    name: 'a webhook',
    path: (account) => webhookPath(account, prepared.webhookId),
    shows: 'Deliveries',
  },
  {
    name: 'a disabled webhook',
    path: (account) => webhookPath(account, prepared.disabledId),
    shows: 'The connection was refused.',
  },
  {
    name: 'a delivery',
    path: (account) => `${webhookPath(account, prepared.webhookId)}?delivery=${prepared.deliveryId}`,
    shows: 'Payload',
  },
];

/** Variables, files and webhooks. */
export const application: Area = { prepare, routes };
