import { setTimeout as delay } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { LightClient, patiently, quantile, tally, type LightResponse } from '../concurrency/load.ts';
import { createTestDatabase } from '../support/database.ts';
import { newApp, newSession, newUser } from '../support/fixtures.ts';
import { spawnService } from '../support/processes.ts';
import { Connection } from './connection.ts';

const service = await spawnService(
  {
    DATABASE_URL: await createTestDatabase(),
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
  },
  afterAll,
);
const { baseUrl } = service.api;
const client = new LightClient(baseUrl);
const app = await newApp(service.api);
const { token } = await newSession(service.api, app);
const user = await newUser(service.api, app);

/** @param withinMs no new one starts after so many milliseconds */
async function verifyTimes(amount: number, pauseMs: number, withinMs = Infinity): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + withinMs;
  for (let n = 0; n < amount && performance.now() < end; n += 1) {
    const { status, ms } = await client.verify({ app_id: app.app_id, token });
    expect(status).toBe(200);
    times.push(ms);
    await delay(pauseMs);
  }
  return times;
}

test('600 idle and slow connections do not disturb verifications', async () => {
  await verifyTimes(50, 0);
  const connections = await Promise.all(Array.from({ length: 600 }, () => Connection.open(baseUrl)));
  let over = false;
  // A third is silent, a third sends a header byte by byte, and a third a body.
  const slow = connections.map(async (connection, n) => {
    if (n % 3 === 0) return;
    if (n % 3 === 1) connection.write('POST /api/v1/client/verify-session HTTP/1.1\r\nX-Slow: ');
    else {
      connection.write(
        'POST /api/v1/client/verify-session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
          'Content-Length: 100000\r\n\r\n{"app_id":"',
      );
    }
    while (!over && connection.over === undefined) {
      connection.write('a');
      await delay(200);
    }
  });
  // After ten seconds, the service disconnects those without complete headers.
  const times = await verifyTimes(200, 5, 4_000);
  over = true;
  await Promise.all(slow);
  expect(connections.filter((connection) => connection.over !== undefined)).toEqual([]);
  for (const connection of connections) connection.destroy();
  expect(quantile(times, 0.99)).toBeLessThan(1_000);
  console.log(
    `verify with 600 slow connections: ` +
      `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`,
  );
});

test('clients that disconnect at any time do not affect the service', async () => {
  const body = JSON.stringify(app.with(user));
  const head =
    'POST /api/v1/client/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${body.length}\r\n\r\n`;
  for (let n = 0; n < 150; n += 1) {
    const connection = await Connection.open(baseUrl);
    connection.write((head + body).slice(0, n % 3 === 0 ? head.length + body.length : n * 3));
    if (n % 2 === 0) connection.socket.resetAndDestroy();
    else connection.destroy();
  }
  // The hashes of disconnected clients may still be running.
  expect((await patiently(() => client.login(app.with(user)))).status).toBe(200);
  expect(service.output().stderr).toBe('');
});

test('300 activations in progress for one user do not delay the verifications of others', async () => {
  const [key] = await app.keys(1);
  const activation = app.with({ username: user.username, license_key: key });
  await client.activate(activation);
  await verifyTimes(20, 0);
  const others = Array.from({ length: 5 }, () => new LightClient(baseUrl));
  let over = false;
  const responses: LightResponse[] = [];
  const flood = Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      while (!over) responses.push(await others[n % others.length]!.activate(activation));
    }),
  );
  await delay(200);
  const times = await verifyTimes(30, 20);
  over = true;
  await flood;
  // On a slow machine, some wait for a database connection for more than 2 s, and get a 503.
  const { '503 SERVICE_UNAVAILABLE': _tooSlow, ...refused } = tally(responses);
  expect(Object.keys(refused)).toEqual(['400 LICENSE_ALREADY_USED']);
  console.log(
    `verify with 300 activations (${responses.length} responses): ` +
      `p50 ${quantile(times, 0.5).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)} ms`,
  );
  expect(quantile(times, 0.9)).toBeLessThan(5_000);
  // On any machine, a verification that waited for them would take at least as long as they do.
  const waits = responses.map(({ ms }) => ms);
  expect(quantile(times, 0.5)).toBeLessThan(quantile(waits, 0.5));
});
