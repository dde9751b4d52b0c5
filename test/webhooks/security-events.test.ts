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
  publishRevocation,
  verify,
} from './support/security-events.ts';
import { LOOPBACK } from './support/webhooks.ts';

const WEB_URL = 'https://www.example.com';
const service = await startTestService({ ...LOOPBACK, WEB_URL });
const { api, clock, database, databaseUrl, services } = service;

const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The longest waits before each attempt but the first. */
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

/** Resolves when everything that was due before has been sent. */
async function settle(): Promise<void> {
  const { developer, receiver } = await scene();
  await publishRevocation(service, developer);
  await expect.poll(() => receiver.received).toHaveLength(1);
}

/** The number of deliveries that wait for a receiver. */
async function waiting(receiverId: string): Promise<number> {
  const rows = database.knex('security_event_deliveries').where({ receiver_id: receiverId });
  return (await rows.select('delivery_id')).length;
}

describe('a token', () => {
  const event = `${WEB_URL}/schemas/events/agent-revoked`;

  test('names an asserted agent by issuer and subject, and can be verified with the published keys', async () => {
    const { developer, receiver, shown } = await scene();
    const identity = { issuer: 'https://agents.example.com', subject: 'user-1' };
    const revocation = await publishRevocation(service, developer, {
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
          agent_id: revocation.agentId,
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

  test('names any other agent by its id', async () => {
    const { developer, receiver } = await scene();
    const revocation = await publishRevocation(service, developer);
    await expect.poll(() => receiver.received).toHaveLength(1);
    const { payload } = await verify(service, receiver.received[0]!);
    expect(payload['sub_id']).toEqual({ format: 'opaque', id: revocation.agentId });
    expect(payload['events']).toEqual({
      [event]: {
        agent_id: revocation.agentId,
        initiating_entity: 'user',
        event_timestamp: Math.floor(revocation.revokedAt.getTime() / 1000),
      },
    });
  });

  test('is signed with the key that is current when it is sent', async () => {
    const { developer, receiver } = await scene(500);
    await publishRevocation(service, developer);
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

describe('the recipients', () => {
  test('are all receivers of the developer, once, and no others', async () => {
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
    await settle();
    expect(foreign.receiver.received).toEqual([]);
    expect(receiver.received).toHaveLength(30);
  });

  test('get nothing before the transaction commits, and nothing if it rolls back', async () => {
    const { developer, receiver, receiver_id } = await scene();
    const failing = database.knex.transaction(async (trx) => {
      await services.securityEvents.publish(trx, revocationOf(service, developer));
      await settle();
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await settle();
    expect(await waiting(receiver_id)).toBe(0);
    expect(receiver.received).toEqual([]);
    const revocation = await publishRevocation(service, developer);
    await expect.poll(() => agentsOf(receiver.received)).toEqual([revocation.agentId]);
  });

  test('do not include a receiver that is deleted concurrently, and neither request fails', async () => {
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
    await publishRevocation(service, developer);
    await settle();
    expect(await waiting(receiver_id)).toBe(0);
    expect(receiver.received.length).toBeLessThanOrEqual(1);
  });
});

describe('a token that is not accepted', () => {
  test('is sent again with the same jti until it is accepted', async () => {
    const { developer, receiver, receiver_id, shown } = await scene(500);
    await publishRevocation(service, developer);
    await expect.poll(async () => (await shown())?.last_fault).toBe('The response status was 500.');
    expect(await shown()).toMatchObject({
      last_delivered_at: null,
      last_failed_at: clock.now().toISOString(),
    });
    const failedAt = clock.now().toISOString();
    clock.advance(4 * SECOND);
    await settle();
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

  test('waits as long as an overloaded receiver requests', async () => {
    const { developer, receiver } = await scene((response) =>
      response.writeHead(503, { 'retry-after': '3600' }).end(),
    );
    await publishRevocation(service, developer);
    await expect.poll(() => receiver.received).toHaveLength(1);
    clock.advance(3599 * SECOND);
    await settle();
    expect(receiver.received).toHaveLength(1);
    clock.advance(SECOND);
    await expect.poll(() => receiver.received).toHaveLength(2);
  });

  test('is given up after 3 days', async () => {
    const { developer, receiver, receiver_id, shown } = await scene(503);
    await publishRevocation(service, developer);
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

  test('is given up at once if the receiver refuses it for good', async () => {
    const refusal = { err: 'invalid_audience', description: 'Not for us, Bearer s3cret\u0000!' };
    const { developer, receiver, receiver_id, shown } = await scene(
      (response) =>
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal)),
      'Bearer s3cret',
    );
    await publishRevocation(service, developer);
    const fault = 'The response status was 400: invalid_audience: Not for us, Bearer …\ufffd!';
    await expect.poll(async () => (await shown())?.last_fault).toBe(fault);
    expect(await waiting(receiver_id)).toBe(0);
    clock.advance(PAUSES[0]!);
    await settle();
    expect(receiver.received).toHaveLength(1);
  });

  test.each(['', 'Bad Request', '[]', 'null', '{"err":7}', '{"error":"invalid_request"}'])(
    'is sent again after a 400 that is not an error of RFC 8935: %j',
    async (text) => {
      const { developer, receiver, receiver_id, shown } = await scene((response) =>
        response.writeHead(400).end(text),
      );
      await publishRevocation(service, developer);
      await expect.poll(async () => (await shown())?.last_fault).toBe('The response status was 400.');
      expect(await waiting(receiver_id)).toBe(1);
      clock.advance(PAUSES[0]!);
      await expect.poll(() => receiver.received).toHaveLength(2);
    },
  );

  test.each([301, 302, 307, 308])('does not follow a %d', async (status) => {
    const elsewhere = await startReceiver();
    const { developer, shown } = await scene((response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    );
    await publishRevocation(service, developer);
    const fault = `The response status was ${status}: redirects are not followed.`;
    await expect.poll(async () => (await shown())?.last_fault).toBe(fault);
    expect(elsewhere.received).toEqual([]);
  });
});

test('receivers that never respond do not delay others', async () => {
  const held: ServerResponse[] = [];
  const silent = await startReceiver((response) => void held.push(response));
  const developers: Developer[] = [];
  for (let count = 0; count < 3; count += 1) {
    const developer = await newDeveloper(api);
    for (let each = 0; each < 20; each += 1) await newReceiver(api, developer, silent.url);
    developers.push(developer);
  }
  for (const developer of developers) await publishRevocation(service, developer);
  // Slow and unknown receivers get no more than half of the slots.
  await expect.poll(() => held.length).toBeGreaterThanOrEqual(32);
  const { developer, receiver, receiver_id } = await scene();
  await database.knex('security_event_receivers').where({ receiver_id }).update({ slow: false });
  await publishRevocation(service, developer);
  await expect.poll(() => receiver.received).toHaveLength(1);
  silent.respond(202);
  for (const response of held) response.writeHead(202).end();
});

test('a deleted receiver gets nothing more', async () => {
  const { developer, receiver, receiver_id, shown } = await scene(500);
  await publishRevocation(service, developer);
  await expect.poll(async () => (await shown())?.last_fault).not.toBeNull();
  expect((await deleteReceiver(api, developer, receiver_id)).status).toBe(200);
  expect(await waiting(receiver_id)).toBe(0);
  await publishRevocation(service, developer);
  clock.advance(PAUSES[0]!);
  await settle();
  expect(receiver.received).toHaveLength(1);
});

test('the authorization of a receiver is sent, and is not stored in clear text', async () => {
  const secret = 'Bearer 5Lw2pQ8vX-not-to-be-found';
  const { developer, receiver, receiver_id } = await scene(202, secret);
  await publishRevocation(service, developer);
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
