import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { LightClient, patiently, quantile, tally, type LightResponse } from '../../concurrency/load.ts';
import { createTestDatabase } from '../../support/database.ts';
import { newApp, newHwid, newNonce, newUser } from '../../support/fixtures.ts';
import { spawnService } from '../../support/processes.ts';

const STORM_MS = 10_000;

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
const owner = await newUser(service.api, app);
const stay = await client.signed('login', app, { ...owner, nonce: newNonce() });
const token = String(stay.body['token']);
const user = await newUser(service.api, app);

const times = (responses: readonly LightResponse[]) => responses.map(({ ms }) => ms);

/**
 * Sends this many each second, however long they take. @returns the responses, once all have arrived
 */
async function storm(
  send: (client: LightClient) => Promise<LightResponse>,
  over: () => boolean,
): Promise<LightResponse[]> {
  const flooder = new LightClient(baseUrl, 2_000);
  const sent: Promise<LightResponse>[] = [];
  while (!over()) {
    // 500 per second. One hash takes 20 ms.
    for (let n = 0; n < 5; n += 1) sent.push(send(flooder));
    await delay(10);
  }
  return Promise.all(sent);
}

test.each([
  {
    what: 'signed logins with the right password',
    send: (flooder: LightClient) => flooder.signed('login', app, { ...user, nonce: newNonce() }),
    kinds: ['200', '429 TOO_MANY_REQUESTS'],
  },
  {
    what: 'signed logins with a wrong password, each for another user',
    send: (flooder: LightClient) =>
      flooder.signed('login', app, {
        username: newHwid().slice(0, 32),
        password: 'a guess',
        hwid: 'machine',
        nonce: newNonce(),
      }),
    kinds: ['401 INVALID_CREDENTIALS', '429 TOO_MANY_REQUESTS'],
  },
])(
  '$what, at ten times capacity for 10 s: the surplus is refused, and p99 of verifications stays under 250 ms',
  async ({ what, send, kinds }) => {
    const verified: Record<'v1' | 'v2' | 'v2, signed', LightResponse[]> = {
      v1: [],
      v2: [],
      'v2, signed': [],
    };
    const body = { app_id: app.app_id, token };
    const until = performance.now() + STORM_MS;
    const over = () => performance.now() >= until;
    const verifying = (async () => {
      while (!over()) {
        verified.v1.push(await client.verify(body));
        verified.v2.push(await client.post('/api/v2/client/verify-session', body));
        verified['v2, signed'].push(await client.signed('verify-session', app, { token, nonce: newNonce() }));
        await delay(10);
      }
    })();
    const [responses] = await Promise.all([storm(send, over), verifying]);
    const refused = responses.filter(({ status }) => status === 429);
    const shown = Object.entries(verified).map(
      ([kind, all]) =>
        `verify ${kind}: p50 ${quantile(times(all), 0.5).toFixed(0)} ms, ` +
        `p99 ${quantile(times(all), 0.99).toFixed(0)} ms of ${all.length}`,
    );
    console.log(
      [
        `${what}: ${JSON.stringify(tally(responses))}, p99 ${quantile(times(responses), 0.99).toFixed(0)} ms`,
        ...shown,
      ].join('; '),
    );
    expect(Object.keys(tally(responses)).toSorted()).toEqual(kinds);
    for (const { headers } of refused) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(Math.max(...times(responses))).toBeLessThan(2_000);
    for (const [kind, all] of Object.entries(verified)) {
      expect(tally(all), kind).toEqual({ 200: all.length });
      expect(quantile(times(all), 0.99), kind).toBeLessThan(250);
    }
    const after = await patiently(() => client.signed('login', app, { ...user, nonce: newNonce() }));
    expect(after.status).toBe(200);
  },
);
