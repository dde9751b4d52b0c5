import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { startTwoProcesses } from '../concurrency/two-processes.ts';
import { SECOND } from '../support/clock.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { newDeveloper, unique } from '../support/fixtures.ts';
import { spawnService } from '../support/processes.ts';
import { startTestService } from '../support/service.ts';
import { startReceiver } from './support/receiver.ts';
import { getReceiver, jtis, newReceiver, publishRevocation, verify } from './support/security-events.ts';
import { LOOPBACK } from './support/webhooks.ts';

/** The queue detects a dead worker after 10 to 16 s on an idle machine. Other tests may share this one. */
const TAKEN_OVER = { timeout: 120_000 };

/** Adds deliveries as a committed revocation does. */
const ADD_DELIVERIES = `insert into security_event_deliveries (delivery_id, receiver_id, sub_id, event, next_attempt_at)
  select 'set_' || md5(r.receiver_id || $2 || n), r.receiver_id, '{"format":"opaque","id":"agt"}',
    '{"agent_id":"agt","initiating_entity":"user","event_timestamp":1}', now()
  from security_event_receivers r, generate_series(1, $3) n where r.receiver_id = any($1)`;

describe('two processes', async () => {
  const { services, sql } = await startTwoProcesses(LOOPBACK);
  const [first] = services;

  test('send each token once', async () => {
    const developer = await newDeveloper(first.api);
    const receivers = [await startReceiver(202), await startReceiver(202), await startReceiver(202)];
    const ids: string[] = [];
    for (const { url } of receivers) ids.push((await newReceiver(first.api, developer, url)).receiver_id);
    const amount = 50;
    for (let round = 0; round < 4; round += 1) await sql(ADD_DELIVERIES, [ids, unique('round'), amount]);
    await expect.poll(() => sql('select from security_event_deliveries')).toHaveLength(0);
    for (const { received } of receivers) {
      expect(received).toHaveLength(4 * amount);
      expect(new Set(jtis(received)).size).toBe(4 * amount);
      expect(new Set(received.map(({ body }) => decodeJwt(body).aud)).size).toBe(1);
    }
    const left = () => sql(`select from pgboss.job where state in ('created', 'retry', 'active')`);
    await expect.poll(left).toHaveLength(0);
  });
});

test(
  'tokens of a killed process are sent by another one, with the same jti',
  { timeout: 180_000 },
  async () => {
    const environment = {
      DATABASE_URL: await createTestDatabase(),
      MASTER_KEY: randomBytes(32).toString('base64'),
      LOG_LEVEL: 'error',
      ...LOOPBACK,
    };
    const killed = await spawnService(environment);
    const receiver = await startReceiver(() => {});
    const { receiver_id } = await newReceiver(killed.api, await newDeveloper(killed.api), receiver.url);
    const database = await connectTo(environment.DATABASE_URL);
    await database.query(ADD_DELIVERIES, [[receiver_id], unique('round'), 15]);
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(1);
    await spawnService(environment);
    await killed.end('SIGKILL');
    receiver.respond(202);
    await expect.poll(() => new Set(jtis(receiver.received)).size, TAKEN_OVER).toBe(15);
    const left = async () => (await database.query('select from security_event_deliveries')).rowCount;
    await expect.poll(left, TAKEN_OVER).toBe(0);
  },
);

test('a restart loses nothing, and reaches no address that is no longer allowed', async () => {
  const DATABASE_URL = await createTestDatabase();
  const before = await startTestService({ DATABASE_URL, ...LOOPBACK });
  const developer = await newDeveloper(before.api);
  const receiver = await startReceiver(500);
  const { receiver_id } = await newReceiver(before.api, developer, receiver.url);
  await publishRevocation(before, developer);
  await expect.poll(() => receiver.received).toHaveLength(1);
  await before.stop();

  const strict = await startTestService({ DATABASE_URL });
  strict.clock.advance(6 * SECOND);
  const fault = async () => (await getReceiver(strict.api, developer, receiver_id))?.last_fault;
  await expect.poll(fault).toBe('The URL must not be a private, local or reserved address.');
  expect(receiver.received).toHaveLength(1);
  await strict.stop();

  receiver.respond(202);
  const after = await startTestService({ DATABASE_URL, ...LOOPBACK });
  after.clock.advance(600 * SECOND);
  await expect.poll(() => receiver.received).toHaveLength(2);
  expect(new Set(jtis(receiver.received)).size).toBe(1);
  await verify(after, receiver.received[1]!);
});
