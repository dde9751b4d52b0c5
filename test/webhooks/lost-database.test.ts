import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DatabaseProxy } from '../faults/database-proxy.ts';
import { createTestDatabase } from '../support/database.ts';
import { newApp } from '../support/fixtures.ts';
import { spawnService } from '../support/processes.ts';
import { startReceiver } from './support/receiver.ts';
import { banNetwork, listDeliveries, LOOPBACK, newWebhook } from './support/webhooks.ts';

const AFTER_RECOVERY = { timeout: 60_000 };

const direct = new URL(await createTestDatabase());
const socket = join(
  direct.searchParams.get('host')!,
  `.s.PGSQL.${direct.searchParams.get('port') ?? '5432'}`,
);
const proxy = await DatabaseProxy.open(socket);
afterAll(() => proxy.close());
const user = direct.searchParams.get('user')!;
const service = await spawnService(
  {
    DATABASE_URL: `postgresql://${user}@127.0.0.1:${proxy.port}${direct.pathname}`,
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'fatal',
    ...LOOPBACK,
  },
  afterAll,
);
const { api } = service;

test.each([
  ['is gone', () => proxy.refuse()],
  ['hangs', async () => proxy.hang()],
  ['drops its connections', async () => proxy.cut()],
])(
  'everything is delivered when the database %s during deliveries',

  async (_what, lose) => {
    const app = await newApp(api);
    const waiting: (() => void)[] = [];
    const receiver = await startReceiver((response) => {
      waiting.push(() => response.writeHead(204).end());
    });
    const { webhook_id } = await newWebhook(api, app, receiver.url, ['ban.created']);
    for (let host = 0; host < 12; host += 1) await banNetwork(api, app, `203.0.113.${host}`);
    await expect.poll(() => waiting.length).toBeGreaterThanOrEqual(1);
    await lose();
    receiver.respond(204);
    for (const response of waiting) response();
    expect((await api.call('GET', '/api/v1/client/plans')).status).toBeOneOf([200, 503]);
    await proxy.resume();
    const states = async () => {
      const deliveries = await listDeliveries(api, app, webhook_id, '?limit=100').catch(() => []);
      return (deliveries ?? []).map(({ state }) => state);
    };
    await expect.poll(states, AFTER_RECOVERY).toEqual(Array<string>(12).fill('succeeded'));
    expect(new Set(receiver.ids()).size).toBe(12);
    expect(service.child.exitCode, service.output().stderr).toBeNull();
  },
);
