import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { toCount } from '../../../src/platform/database/bounded-count.ts';
import { VERSION } from '../../../src/platform/version.ts';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { SECOND } from '../../support/clock.ts';
import { newApp, newDeveloper, newUser } from '../../support/fixtures.ts';
import { ADMIN_TOKEN, MASTER_KEY, startTestService, startWithLostDatabase } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';

type Installation = components['schemas']['InstallationResult'];

const service = await startTestService();
const { api, clock, databaseUrl, database } = service;

const report = (node = api, token = ADMINISTRATOR.token) =>
  node.call<Installation>('GET', '/api/v2/admin/installation', undefined, { token });

test('shows the parts, what waits and what is stored', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await newUser(api, app);
  await newUser(api, app);
  const { status, body } = await report();
  expect(status).toBe(200);
  expect(body).toMatchObject({
    version: VERSION,
    checked_at: clock.now().toISOString(),
    nodes: [{ state: 'alive', is_current: true, version: VERSION, started_at: clock.now().toISOString() }],
    database: { state: 'operational', embedded: false, pending_migrations: 0, awaits_standby: false },
    broker: { state: 'operational', embedded: true },
    mail: { embedded: true },
    files: { embedded: true },
    payment_processor: 'test',
    queues: {
      events_set_aside: 0,
      broker_events_waiting: 0,
      broker_events_set_aside: 0,
      webhook_deliveries_waiting: 0,
      security_events_set_aside: 0,
      payment_events_set_aside: 0,
      failed_mails: 0,
    },
    counts: {
      developers: { count: 1, estimated: false },
      applications: { count: 1, estimated: false },
      users: { count: 2, estimated: false },
    },
  });
  expect(body.database.version).toMatch(/^\d+\.\d+/);
  expect(body.database.size_bytes).toBeGreaterThan(1_000_000);
  expect(body.database.migration).toMatch(/^\d{14}_\w+$/);
  expect(body.signing_keys[0]).toMatchObject({ alg: 'ES256', state: 'signing' });
  expect(body.warnings.map(({ code }) => code)).toEqual(['TEST_PROCESSOR', 'NO_SMTP_SERVER', 'NO_BASE_URL']);
});

test('shows what is set aside and the deliveries that wait', async () => {
  const { knex } = database;
  const app = await newApp(api);
  await knex('events').where({ app_id: app.app_id }).update({ broker_fault: 'too long' });
  const { body } = await report();
  expect(body.queues.broker_events_set_aside).toBe(1);
  expect(body.warnings.map(({ code }) => code)).toContain('SET_ASIDE');
  await knex('events').where({ app_id: app.app_id }).update({ broker_fault: null });
});

test('shows other nodes, lost ones and those of other versions', async () => {
  const { knex } = database;
  const seen_at = clock.now();
  const lost = new Date(seen_at.getTime() - 60 * SECOND);
  await knex('nodes').insert([
    { node_id: 'node_a', seen_at: lost, version: VERSION, started_at: lost },
    { node_id: 'node_b', seen_at },
  ]);
  const { body } = await report();
  const shown = body.nodes.map(({ node_id, state, is_current, version }) => [
    node_id,
    state,
    is_current,
    version,
  ]);
  expect(shown).toContainEqual(['node_a', 'lost', false, VERSION]);
  expect(shown).toContainEqual(['node_b', 'alive', false, null]);
  expect(body.warnings.map(({ code }) => code)).toEqual(
    expect.arrayContaining(['LOST_NODES', 'DIFFERENT_VERSIONS']),
  );
  await knex('nodes').whereIn('node_id', ['node_a', 'node_b']).delete();
});

test('contains no secret', async () => {
  const { body } = await report();
  const text = JSON.stringify(body);
  for (const secret of [ADMIN_TOKEN, MASTER_KEY, databaseUrl]) expect(text).not.toContain(secret);
});

test('responds within the limit without the database', async () => {
  // The limit of a request in production: a report that takes longer would be a 503.
  const { api: without } = await startWithLostDatabase(databaseUrl, 4_900);
  const { status, body } = await report(without);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    nodes: [],
    database: { state: 'unavailable', version: null, size_bytes: null },
    queues: { events_waiting: null, failed_mails: null },
    counts: { users: { count: null, estimated: false } },
  });
});

test('shows a broker that does not respond', async () => {
  const { api: without } = await startTestService({
    DATABASE_URL: databaseUrl,
    BROKER_URL: 'mqtt://127.0.0.1:9',
  });
  const { body } = await report(without);
  expect(body.broker).toEqual({ state: 'unavailable', embedded: false });
  expect(body.database.state).toBe('operational');
});

test.each([
  [
    { counted: 0, estimate: -1 },
    { count: 0, estimated: false },
  ],
  [
    { counted: 10_000, estimate: 5 },
    { count: 10_000, estimated: false },
  ],
  [
    { counted: 10_001, estimate: 1_234_567.8 },
    { count: 1_234_568, estimated: true },
  ],
  [
    { counted: 10_001, estimate: -1 },
    { count: 10_001, estimated: true },
  ],
])('many rows are estimated: %o', (bounded, count) => {
  expect(toCount(bounded)).toEqual(count);
});

test('UNAUTHORIZED', async () => {
  const { token } = await newDeveloper(api);
  expectError(await report(api, token), 401, 'UNAUTHORIZED');
});
