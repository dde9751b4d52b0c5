import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startTwoProcesses } from '../concurrency/two-processes.ts';
import { createTestDatabase } from '../support/database.ts';
import { newApp } from '../support/fixtures.ts';
import { spawnService } from '../support/processes.ts';
import { startReceiver } from './support/receiver.ts';
import { getWebhook, banNetwork, listDeliveries, LOOPBACK, newWebhook } from './support/webhooks.ts';

/** The queue detects a dead worker after 10 to 16 s on an idle machine. Other tests may share this one. */
const TAKEN_OVER = { timeout: 120_000 };

describe('two processes', async () => {
  const { services, sql } = await startTwoProcesses(LOOPBACK);
  const [first, second] = services;

  test('deliver each event once', async () => {
    const app = await newApp(first.api);
    const receivers = [await startReceiver(), await startReceiver(), await startReceiver()];
    for (const { url } of receivers) await newWebhook(first.api, app, url, ['ban.created']);
    const amount = 150;
    const work = async (api: typeof first.api, from: number) => {
      for (let host = from; host < amount; host += 4) await banNetwork(api, app, `203.0.113.${host}`);
    };
    await Promise.all([work(first.api, 0), work(second.api, 1), work(first.api, 2), work(second.api, 3)]);
    for (const receiver of receivers)
      await expect.poll(() => receiver.ids().length).toBeGreaterThanOrEqual(amount);
    const open = () => sql(`select from webhook_deliveries where state <> 'succeeded'`);
    await expect.poll(open).toHaveLength(0);
    for (const receiver of receivers) {
      expect(receiver.ids()).toHaveLength(amount);
      expect(new Set(receiver.ids()).size).toBe(amount);
    }
    const rows = await sql<{ attempts: number }>('select attempts from webhook_deliveries');
    expect(rows).toHaveLength(3 * amount);
    expect(new Set(rows.map(({ attempts }) => attempts))).toEqual(new Set([1]));
  });

  test('leave no job behind', async () => {
    const left = () => sql(`select from pgboss.job where state in ('created', 'retry', 'active')`);
    await expect.poll(left).toHaveLength(0);
  });
});

describe('a process that is killed', async () => {
  const environment = {
    DATABASE_URL: await createTestDatabase(),
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
    ...LOOPBACK,
  };

  test('in the middle of deliveries: another one sends them', { timeout: 180_000 }, async () => {
    const killed = await spawnService(environment);
    const app = await newApp(killed.api);
    const receiver = await startReceiver(() => {});
    const { webhook_id } = await newWebhook(killed.api, app, receiver.url, ['ban.created']);
    for (let host = 0; host < 15; host += 1) await banNetwork(killed.api, app, `203.0.113.${host}`);
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(1);
    const successor = await spawnService(environment);
    await killed.end('SIGKILL');
    receiver.respond(204);
    await expect.poll(() => new Set(receiver.ids()).size, TAKEN_OVER).toBe(15);
    const states = async () =>
      (await listDeliveries(successor.api, app, webhook_id, '?limit=100')).map(({ state }) => state);
    await expect.poll(states, TAKEN_OVER).toEqual(Array<string>(15).fill('succeeded'));
    expect((await getWebhook(successor.api, app, webhook_id)).failing_since).toBeNull();
  });

  test('with SIGTERM: another one sends what did not end in time', async () => {
    const leaving = await spawnService(environment);
    const app = await newApp(leaving.api);
    const receiver = await startReceiver(() => {});
    onTestFinished(() => void receiver.respond(204));
    await newWebhook(leaving.api, app, receiver.url, ['ban.created']);
    await banNetwork(leaving.api, app);
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(await leaving.end('SIGTERM')).toBe(0);
    receiver.respond(204);
    const successor = await spawnService(environment);
    const [only] = receiver.ids();
    await expect.poll(() => receiver.ids(), TAKEN_OVER).toEqual([only, only]);
    expect(successor.child.exitCode).toBeNull();
  });
});
