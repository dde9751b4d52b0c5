import { expect, test, vi } from 'vitest';
import { ENDED, KEPT, PARKED } from '../../src/access/restoration/restoration-store.ts';
import { withServices } from '../../src/app/service.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { newAgent, isAlive } from '../operations/support/agents.ts';
import { completeReset, requestReset } from '../operations/support/passwords.ts';
import { newApiToken } from '../operations/support/tokens.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { DAY } from '../support/clock.ts';
import { connectTo, copyDatabase, createTestDatabase } from '../support/database.ts';
import { newApp, newDeveloper, newSession } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { newClient } from '../support/oauth.ts';
import { runToEnd, temporaryFolder } from '../support/processes.ts';
import { MASTER_KEY, startTestService, type TestService } from '../support/service.ts';
import { newReceiver, publishRevocation } from '../webhooks/support/security-events.ts';
import { startReceiver } from '../webhooks/support/receiver.ts';
import { listDeliveries, LOOPBACK, newWebhook, callWebhooks } from '../webhooks/support/webhooks.ts';

const MACHINE = {
  redirect_uris: [],
  grant_types: ['client_credentials' as const],
  scopes: ['read' as const],
};

/** A service with due work and credentials of every kind. */
async function makePast(databaseUrl: string) {
  // No server listens there, so mails wait.
  const SMTP_URL = `smtp://127.0.0.1:${await freePort()}`;
  const service = await startTestService({ ...LOOPBACK, DATABASE_URL: databaseUrl, SMTP_URL });
  const { api } = service;
  const hook = await startReceiver(500);
  const listener = await startReceiver(500);
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { webhook_id } = await newWebhook(api, app, hook.url, ['user.created', 'license.created']);
  await newReceiver(api, developer, listener.url);
  await publishRevocation(service, developer);
  const session = await newSession(api, app);
  const { token: apiToken } = await newApiToken(api, developer, ['read']);
  const { credential } = await newAgent(api, developer);
  const client = await newClient(api, developer, MACHINE);
  await requestReset(api, developer.email);
  await expect.poll(() => hook.received.length).toBe(1);
  await expect.poll(() => listener.received.length).toBe(1);
  await service.stop();
  const database = await connectTo(databaseUrl);
  // An event from just before the copy, not yet published.
  await database.query(
    `insert into events (event_id, app_id, type, data, created_at)
     select 'evt_0000000000000000000000000a', app_id, 'license.created', '{}', created_at from events
     where app_id = $1 limit 1`,
    [app.app_id],
  );
  await database.end();
  return { hook, listener, developer, app, webhook_id, session, apiToken, credential, client };
}

type Past = Awaited<ReturnType<typeof makePast>>;

/** Starts a service on a copy, a day later, with receivers that accept everything. */
async function startOn(databaseUrl: string, { hook, listener }: Past): Promise<TestService> {
  for (const receiver of [hook, listener]) {
    receiver.received.length = 0;
    receiver.respond(204);
  }
  const DATA_DIR = await temporaryFolder(atFileEnd);
  return startTestService({ ...LOOPBACK, DATABASE_URL: databaseUrl, DATA_DIR });
}

/** Which credentials from before the copy are accepted. */
async function accepted({ api, baseUrl }: TestService, past: Past) {
  const { app, session, developer, apiToken, credential, client } = past;
  const me = async (token: string) =>
    (await api.call('GET', '/api/v2/dev/apps', undefined, { token })).status === 200;
  const { client_id, client_secret } = client;
  const granted = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
    headers: { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` },
  });
  const { status } = await api.verify({
    app_id: app.app_id,
    token: session.token,
    hwid: session.owner.hwid,
  });
  return {
    session: status === 200,
    developer: await me(developer.token),
    apiToken: await me(apiToken),
    agent: await isAlive(api, credential),
    client: granted.status === 200,
  };
}

test('a quiet copy sends nothing that was due and accepts no earlier credentials until it is released', async () => {
  const original = await createTestDatabase();
  const past = await makePast(original);
  const { hook, listener, app, developer, webhook_id } = past;
  const [naive, copy] = [await copyDatabase(original), await copyDatabase(original)];

  // A copy that is just started sends everything that was due and accepts every credential.
  const noisy = await startOn(naive, past);
  expect(await accepted(noisy, past)).toEqual({
    session: true,
    developer: true,
    apiToken: true,
    agent: true,
    client: true,
  });
  noisy.clock.advance(DAY / 2);
  await expect.poll(() => hook.received.length).toBe(2);
  await expect.poll(() => listener.received.length).toBe(1);
  await noisy.stop();

  const environment = { DATABASE_URL: copy, MASTER_KEY, LOG_LEVEL: 'error' };
  const first = await runToEnd(environment, 'src/app/commands/restored.ts');
  expect(first).toMatchObject({ code: 0, stderr: '' });
  for (const line of [
    /^ +1 {2}unpublished events are set aside$/m,
    /^ +1 {2}deliveries of webhooks are parked$/m,
    /^ +1 {2}deliveries of security events are parked$/m,
    /^ +1 {2}mails are parked$/m,
    /^ +1 {2}sessions of users are ended$/m,
    /^ +1 {2}API tokens of developers and resellers are ended$/m,
    /^ +1 {2}secrets of OAuth clients are replaced/m,
  ])
    expect(first.stdout).toMatch(line);
  await withServices(loadConfig(environment), createLogger('warn'), async ({ restoration }, database) => {
    const again = await database.withStatementTimeout(0, ({ knex }) => restoration.quarantine(knex));
    expect(again).toContainEqual({ what: 'deliveries of webhooks are parked', rows: 0 });
    expect(again).toContainEqual({ what: 'mails are parked', rows: 0 });
  });

  const quiet = await startOn(copy, past);
  const { api } = quiet;
  expect(await accepted(quiet, past)).toEqual({
    session: false,
    developer: false,
    apiToken: false,
    agent: false,
    client: false,
  });
  quiet.clock.advance(DAY / 2);
  const { email, password } = developer;
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  const signedIn = { ...app, token: body.token };
  // New events are sent, those that were due before are not.
  const path = `/api/v2/dev/apps/${app.app_id}`;
  const made = await api.post(`${path}/licenses`, { amount: 1, duration_days: 1, tier: 'Pro' }, signedIn);
  expect(made.status).toBe(201);
  await expect.poll(() => hook.received.length).toBe(1);
  expect(hook.received[0]!.body).toContain('license.created');
  expect(hook.received[0]!.body).not.toContain('evt_0000000000000000000000000a');
  await requestReset(api, `other-${email}`);
  await vi.waitFor(async () => expect(await quiet.mailbox()).toHaveLength(1), 15_000);
  expect(hook.received).toHaveLength(1);
  expect(listener.received).toEqual([]);
  expect((await api.health()).body.message).toBe('operational, 1 events are set aside');

  // Released as documented in docs/operating.md.
  const parked = await listDeliveries(api, signedIn, webhook_id, '?state=failed');
  expect(parked.map(({ event }) => event.type)).toEqual(['user.created']);
  await callWebhooks(api, signedIn, 'POST', [webhook_id, 'deliveries', parked[0]!.delivery_id, 'replay']);
  const database = await connectTo(copy);
  await database.query(`update events set fault = null where fault like 'parked:%'`);
  await database.query(
    `update security_event_deliveries set next_attempt_at = '2000-01-01' where next_attempt_at = 'infinity'`,
  );
  await database.query(
    `update pgboss.job set start_after = now() where name = 'mails' and start_after = 'infinity'`,
  );
  await expect.poll(() => hook.received.length).toBe(3);
  await expect.poll(() => listener.received.length).toBe(1);
  await expect.poll(async () => (await quiet.mailbox()).length).toBe(2);
  // The link in the earlier mail was invalidated.
  const old = (await quiet.mailbox()).find(({ to }) => to?.[0]?.address === email)!;
  const [, token] = /\/account\/password\/([\w-]{43})\n/.exec(old.text!)!;
  expect((await completeReset(api, { token: token!, password: 'a newer password' })).status).toBe(401);
});

test('the list covers every table', async () => {
  const database = await connectTo(await createTestDatabase());
  const { rows } = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const decided = [...PARKED, ...ENDED].flatMap(({ tables }) => tables);
  const kept = KEPT.flatMap(([, tables]) => tables);
  const known = new Set([...decided, ...kept]);
  for (const { name } of rows) expect(known, `${name} is parked, ended or kept`).toContain(name);
  for (const name of decided) expect(kept).not.toContain(name);
});
