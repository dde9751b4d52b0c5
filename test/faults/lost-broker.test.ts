import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startBroker, type BrokerProcess } from '../conformance/support/broker-process.ts';
import { LightClient, type LightResponse } from '../concurrency/load.ts';
import { createTestDatabase } from '../support/database.ts';
import { newApp, newHwid, newNonce, newUser, unique, type App, type User } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { spawnService } from '../support/processes.ts';

/** The documented maximum is 2 s. Other tests share the machine, and a call without a timeout would hang forever. */
const RESPONSE_WITHIN_MS = 15_000;

const port = await freePort();
// The broker is unavailable when the service starts.
const service = await spawnService(
  {
    DATABASE_URL: await createTestDatabase(),
    MASTER_KEY: randomBytes(32).toString('base64'),
    BROKER_URL: `mqtt://127.0.0.1:${port}`,
    LOG_LEVEL: 'fatal',
  },
  afterAll,
);
const client = new LightClient(service.api.baseUrl);
let app: App;
let owner: User;

beforeAll(async () => {
  app = await newApp(service.api);
  owner = await newUser(service.api, app);
});

afterEach(() => {
  expect(service.child.exitCode, service.output().stderr).toBeNull();
  expect(service.child.signalCode).toBeNull();
});

async function broker(): Promise<BrokerProcess> {
  const started = await startBroker(port);
  onTestFinished(() => started.kill());
  return started;
}

const health = () => client.call('GET', '/health');

function expectBrokerNamed(response: LightResponse): void {
  expect(response).toMatchObject({ status: 500, code: 'HEALTH_CHECK_FAILED' });
  expect(response.body['detail']).toMatch(/messaging broker/);
  expect(response.ms).toBeLessThan(RESPONSE_WITHIN_MS);
}

/** The requests of a user, and of a developer at the same time. */
async function expectEverythingWorks(): Promise<void> {
  const [key, another] = await app.keys(2);
  const login = await client.signed('login', app, { ...owner, nonce: newNonce() });
  expect(login.status).toBe(200);
  const { token } = login.body;
  const bans = `/api/v2/dev/apps/${app.app_id}/bans`;
  const ban = await client.post(bans, { kind: 'hardware', hwid: newHwid() }, app.token);
  const banPath = `${bans}/${String(ban.body['ban_id'])}`;
  const user = { username: unique('user'), password: 'a user password', hwid: newHwid() };
  const responses: LightResponse[] = [
    ban,
    await client.signed('verify-session', app, { token, nonce: newNonce() }),
    await client.verify({ app_id: app.app_id, token }),
    await client.activate(app.with({ username: owner.username, license_key: key })),
    await client.register(app.with(user)),
    await client.post('/api/v2/client/login-license', {
      app_id: app.app_id,
      license_key: another,
      hwid: newHwid(),
    }),
    await client.call('PATCH', `/api/v2/dev/apps/${app.app_id}`, { name: 'App' }, app.token),
    await client.call('DELETE', banPath, undefined, app.token),
    await client.call('GET', '/api/v1/client/plans'),
    await client.signed('logout', app, { session_token: token, nonce: newNonce() }),
  ];
  for (const response of responses) {
    expect([200, 201], JSON.stringify(response.body)).toContain(response.status);
    expect(response.ms).toBeLessThan(RESPONSE_WITHIN_MS);
  }
}

test('the service starts without its broker, works without it, and reports it', async () => {
  await expectEverythingWorks();
  for (let n = 0; n < 3; n += 1) expectBrokerNamed(await health());
});

test('the service is operational once the broker is available, and not when it is lost again', async () => {
  const first = await broker();
  await expect.poll(async () => (await health()).status).toBe(200);
  await expectEverythingWorks();
  await first.kill();
  await expect.poll(async () => (await health()).status).toBe(500);
  expectBrokerNamed(await health());
  await expectEverythingWorks();
  await broker();
  await expect.poll(async () => (await health()).status).toBe(200);
});

test('a broker that accepts everything and never responds is not operational, but delays no request', async () => {
  const silent = await broker();
  await expect.poll(async () => (await health()).status).toBe(200);
  silent.hang();
  const [report] = await Promise.all([health(), expectEverythingWorks()]);
  expectBrokerNamed(report);
  silent.resume();
  await expect.poll(async () => (await health()).status).toBe(200);
});
