import type { ServerResponse } from 'node:http';
import { decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';
import { SECOND } from '../support/clock.ts';
import { connectTo } from '../support/database.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { ADMIN_TOKEN, startTestService } from '../support/service.ts';
import { startReceiver, type Behavior } from './support/receiver.ts';
import {
  agentsOf,
  AUDIENCE,
  deleteReceiver,
  getReceiver,
  jtis,
  newLastingDeveloper,
  newReceiver,
  revocationOf,
  tell,
  verify,
} from './support/security-events.ts';
import { LOOPBACK } from './support/webhooks.ts';

const WEB_URL = 'https://www.example.com';
const service = await startTestService({ ...LOOPBACK, WEB_URL });
const { api, clock, database, databaseUrl, services } = service;

const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** How long it waits at most before each of its tries but the first. */
const PAUSES = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
].map((pause) => pause * 1.1 + 1);

async function scene(behavior?: Behavior, authorization?: string) {
  const developer = await newLastingDeveloper(api);
  const receiver = await startReceiver(behavior);
  const { receiver_id } = await newReceiver(api, developer, receiver.url, authorization);
  const shown = () => getReceiver(api, developer, receiver_id);
  return { developer, receiver, receiver_id, shown };
}

/** Resolves when whoever was told before this has been sent what was due. */
async function others(): Promise<void> {
  const { developer, receiver } = await scene();
  await tell(service, developer);
  await expect.poll(() => receiver.received).toHaveLength(1);
}

/** How many deliveries wait for a receiver. */
async function waiting(receiverId: string): Promise<number> {
  const rows = database.knex('security_event_deliveries').where({ receiver_id: receiverId });
  return (await rows.select('delivery_id')).length;
}

describe('a token', () => {
  const event = `${WEB_URL}/schemas/events/agent-revoked`;

  test('tells of an agent that an issuer had asserted what a stranger can verify', async () => {
    const { developer, receiver, shown } = await scene();
    const identity = { issuer: 'https://agents.example.com', subject: 'user-1' };
    const told = await tell(service, developer, {
      ...identity,
      initiatingEntity: 'admin',
      reason: 'policy violation',
    });
    await expect.poll(() => receiver.received).toHaveLength(1);
    const [received] = receiver.received;
    const { payload, protectedHeader } = await verify(service, received!);
    expect(protectedHeader).toEqual({
      alg: 'ES256',
      typ: 'secevent+jwt',
      kid: expect.any(String) as string,
    });
    const seconds = Math.floor(clock.now().getTime() / 1000);
    expect(payload).toEqual({
      iss: service.baseUrl,
      aud: AUDIENCE,
      iat: seconds,
      jti: expect.stringMatching(/^set_[0-9a-z]{26}$/) as string,
      sub_id: { format: 'iss_sub', iss: identity.issuer, sub: identity.subject },
      events: {
        [event]: {
          agent_id: told.agentId,
          initiating_entity: 'admin',
          event_timestamp: seconds,
          reason: 'policy violation',
        },
      },
    });
    expect(services.securityEvents.agentRevoked()).toBe(event);
    expect(received!.headers).toMatchObject({
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
    });
    expect(received!.headers).not.toHaveProperty('authorization');
    await expect.poll(shown).toMatchObject({
      last_delivered_at: clock.now().toISOString(),
      last_failed_at: null,
      last_fault: null,
    });
  });

  test('tells of any other one by its id', async () => {
    const { developer, receiver } = await scene();
    const told = await tell(service, developer);
    await expect.poll(() => receiver.received).toHaveLength(1);
    const { payload } = await verify(service, receiver.received[0]!);
    expect(payload['sub_id']).toEqual({ format: 'opaque', id: told.agentId });
    expect(payload['events']).toEqual({
      [event]: {
        agent_id: told.agentId,
        initiating_entity: 'user',
        event_timestamp: Math.floor(told.revokedAt.getTime() / 1000),
      },
    });
  });

  test('is signed with a key of the time when it is sent', async () => {
    const { developer, receiver } = await scene(500);
    await tell(service, developer);
    await expect.poll(() => receiver.received).toHaveLength(1);
    const { kid } = decodeProtectedHeader(receiver.received[0]!.body);
    const removed = await api.call('DELETE', `/api/v2/admin/signing-keys/${kid}`, undefined, {
      token: ADMIN_TOKEN,
    });
    expect(removed.status).toBe(200);
    receiver.respond(202);
    clock.advance(PAUSES[0]!);
    await expect.poll(() => receiver.received).toHaveLength(2);
    const { protectedHeader, payload } = await verify(service, receiver.received[1]!);
    expect(protectedHeader.kid).not.toBe(kid);
    expect([payload.jti, payload.jti]).toEqual(jtis(receiver.received));
  });
});

describe('who is told', () => {
  test('every receiver of the developer once, and nobody else’s', async () => {
    const { developer, receiver } = await scene();
    const second = await startReceiver(202);
    await newReceiver(api, developer, second.url);
    const foreign = await scene();
    const agents = Array.from({ length: 30 }, () => revocationOf(service, developer));
    await database.knex.transaction((trx) => services.securityEvents.publish(trx, agents));
    const ids = agents.map(({ agentId }) => agentId).toSorted();
    for (const { received } of [receiver, second]) {
      await expect.poll(() => received).toHaveLength(30);
      expect(agentsOf(received).toSorted()).toEqual(ids);
    }
    expect(new Set(jtis([...receiver.received, ...second.received])).size).toBe(60);
    await others();
    expect(foreign.receiver.received).toEqual([]);
    expect(receiver.received).toHaveLength(30);
  });

  test('nobody before the transaction commits, and nobody when it does not', async () => {
    const { developer, receiver, receiver_id } = await scene();
    const failing = database.knex.transaction(async (trx) => {
      await services.securityEvents.publish(trx, revocationOf(service, developer));
      await others();
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await others();
    expect(await waiting(receiver_id)).toBe(0);
    expect(receiver.received).toEqual([]);
    const told = await tell(service, developer);
    await expect.poll(() => agentsOf(receiver.received)).toEqual([told.agentId]);
  });

  test('no receiver that is deleted while a transaction wants to tell it: neither fails', async () => {
    const { developer, receiver, receiver_id } = await scene();
    let deleting: Promise<{ status: number }> | undefined;
    await database.knex.transaction(async (trx) => {
      await services.securityEvents.publish(trx, revocationOf(service, developer));
      deleting = deleteReceiver(api, developer, receiver_id);
      const client = await connectTo(databaseUrl);
      const held = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await client.query(held)).rowCount).toBe(1);
    });
    expect((await deleting)!.status).toBe(200);
    await tell(service, developer);
    await others();
    expect(await waiting(receiver_id)).toBe(0);
    expect(receiver.received.length).toBeLessThanOrEqual(1);
  });
});

describe('what is not taken', () => {
  test('is sent again with the same jti until it is', async () => {
    const { developer, receiver, receiver_id, shown } = await scene(500);
    await tell(service, developer);
    await expect.poll(async () => (await shown())?.last_fault).toBe('The response status was 500.');
    expect(await shown()).toMatchObject({
      last_delivered_at: null,
      last_failed_at: clock.now().toISOString(),
    });
    const failedAt = clock.now().toISOString();
    clock.advance(4 * SECOND);
    await others();
    expect(receiver.received).toHaveLength(1);
    receiver.respond((response) => void response.socket!.destroy());
    clock.advance(PAUSES[0]! - 4 * SECOND);
    await expect.poll(async () => (await shown())?.last_failed_at).not.toBe(failedAt);
    expect((await shown())?.last_fault).not.toBe('The response status was 500.');
    receiver.respond(202);
    const tries = receiver.received.length;
    clock.advance(PAUSES[1]!);
    await expect.poll(() => receiver.received).toHaveLength(tries + 1);
    expect(new Set(jtis(receiver.received)).size).toBe(1);
    await verify(service, receiver.received.at(-1)!);
    await expect.poll(async () => (await shown())?.last_delivered_at).toBe(clock.now().toISOString());
    expect(await waiting(receiver_id)).toBe(0);
  });

  test('waits as long as an overloaded receiver wants it', async () => {
    const { developer, receiver } = await scene((response) =>
      response.writeHead(503, { 'retry-after': '3600' }).end(),
    );
    await tell(service, developer);
    await expect.poll(() => receiver.received).toHaveLength(1);
    clock.advance(3599 * SECOND);
    await others();
    expect(receiver.received).toHaveLength(1);
    clock.advance(SECOND);
    await expect.poll(() => receiver.received).toHaveLength(2);
  });

  test('is given up after 3 days', async () => {
    const { developer, receiver, receiver_id, shown } = await scene(503);
    await tell(service, developer);
    const began = clock.now().getTime();
    for (const [index, pause] of PAUSES.entries()) {
      await expect.poll(() => receiver.received).toHaveLength(index + 1);
      await expect.poll(async () => (await shown())?.last_failed_at).toBe(clock.now().toISOString());
      clock.advance(pause);
    }
    await expect.poll(() => receiver.received).toHaveLength(PAUSES.length + 1);
    expect(clock.now().getTime() - began).toBeGreaterThanOrEqual(72 * HOUR);
    await expect.poll(() => waiting(receiver_id)).toBe(0);
  });

  test('is given up at once when the receiver says that it never will', async () => {
    const refusal = { err: 'invalid_audience', description: 'Not for us, Bearer s3cret\u0000!' };
    const { developer, receiver, receiver_id, shown } = await scene(
      (response) =>
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal)),
      'Bearer s3cret',
    );
    await tell(service, developer);
    const fault = 'The response status was 400: invalid_audience: Not for us, Bearer …\ufffd!';
    await expect.poll(async () => (await shown())?.last_fault).toBe(fault);
    expect(await waiting(receiver_id)).toBe(0);
    clock.advance(PAUSES[0]!);
    await others();
    expect(receiver.received).toHaveLength(1);
  });

  test.each(['', 'Bad Request', '[]', 'null', '{"err":7}', '{"error":"invalid_request"}'])(
    'is sent again after a 400 that is not the receiver’s own: %j',
    async (text) => {
      const { developer, receiver, receiver_id, shown } = await scene((response) =>
        response.writeHead(400).end(text),
      );
      await tell(service, developer);
      await expect.poll(async () => (await shown())?.last_fault).toBe('The response status was 400.');
      expect(await waiting(receiver_id)).toBe(1);
      clock.advance(PAUSES[0]!);
      await expect.poll(() => receiver.received).toHaveLength(2);
    },
  );

  test.each([301, 302, 307, 308])('is not taken elsewhere by a %d', async (status) => {
    const elsewhere = await startReceiver();
    const { developer, shown } = await scene((response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    );
    await tell(service, developer);
    const fault = `The response status was ${status}: redirects are not followed.`;
    await expect.poll(async () => (await shown())?.last_fault).toBe(fault);
    expect(elsewhere.received).toEqual([]);
  });
});

test('receivers that never answer hold up nobody else', async () => {
  const held: ServerResponse[] = [];
  const silent = await startReceiver((response) => void held.push(response));
  const developers: Developer[] = [];
  for (let count = 0; count < 3; count += 1) {
    const developer = await newDeveloper(api);
    for (let each = 0; each < 20; each += 1) await newReceiver(api, developer, silent.url);
    developers.push(developer);
  }
  for (const developer of developers) await tell(service, developer);
  // Of the places for work, those that are slow or unknown get no more than half.
  await expect.poll(() => held.length).toBeGreaterThanOrEqual(32);
  const { developer, receiver, receiver_id } = await scene();
  await database.knex('security_event_receivers').where({ receiver_id }).update({ slow: false });
  await tell(service, developer);
  await expect.poll(() => receiver.received).toHaveLength(1);
  silent.respond(202);
  for (const response of held) response.writeHead(202).end();
});

test('a deleted receiver gets nothing more', async () => {
  const { developer, receiver, receiver_id, shown } = await scene(500);
  await tell(service, developer);
  await expect.poll(async () => (await shown())?.last_fault).not.toBeNull();
  expect((await deleteReceiver(api, developer, receiver_id)).status).toBe(200);
  expect(await waiting(receiver_id)).toBe(0);
  await tell(service, developer);
  clock.advance(PAUSES[0]!);
  await others();
  expect(receiver.received).toHaveLength(1);
});

test('what a receiver wants to be sent is sent, and is nowhere in clear text', async () => {
  const secret = 'Bearer 5Lw2pQ8vX-not-to-be-found';
  const { developer, receiver, receiver_id } = await scene(202, secret);
  await tell(service, developer);
  await expect.poll(() => receiver.received).toHaveLength(1);
  expect(receiver.received[0]!.headers.authorization).toBe(secret);
  const { rows } = await database.knex.raw<{ rows: { text: string }[] }>(
    `select r::text as text from security_event_receivers r where receiver_id = ?
     union all select a::text from audit_log a
     union all select d::text from security_event_deliveries d`,
    [receiver_id],
  );
  const dump = rows.map(({ text }) => text).join('\n');
  expect(dump).toContain(receiver_id);
  for (const form of ['not-to-be-found', Buffer.from('not-to-be-found').toString('hex')]) {
    expect(dump).not.toContain(form);
  }
});
