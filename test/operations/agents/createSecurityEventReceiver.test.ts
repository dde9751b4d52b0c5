import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createKeyring } from '../../../src/platform/keyring.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { createTestDatabase } from '../../support/database.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { MASTER_KEY, startTestService } from '../../support/service.ts';
import { startReceiver } from '../../webhooks/support/receiver.ts';
import {
  createReceiver,
  deleteReceiver,
  getReceiver,
  newReceiver,
  RECEIVERS,
  publishRevocation,
  type NewReceiver,
} from '../../webhooks/support/security-events.ts';
import { LOOPBACK } from '../../webhooks/support/webhooks.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { newApiToken } from '../support/tokens.ts';

const { api, clock, database } = await startTestService(LOOPBACK);
const WANTED = { url: 'https://idp.example.com/events?key=a%20b', audience: 'https://idp.example.com' };

test('adds a receiver, which is listed as it was sent, without what it wants to be sent', async () => {
  const developer = await newDeveloper(api);
  const authorization = 'Bearer 5Lw2pQ8vX';
  const { status, body } = await createReceiver(api, developer, { ...WANTED, authorization });
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    receiver_id: expect.stringMatching(/^rcv_[0-9a-z]{26}$/) as string,
    ...WANTED,
    created_at: clock.now().toISOString(),
    last_delivered_at: null,
    last_failed_at: null,
    last_fault: null,
  });
  const { status: _, ...receiver } = body;
  expect(await getReceiver(api, developer, body.receiver_id)).toEqual(receiver);
});

test('keeps what it wants to be sent sealed, and nothing where there is nothing', async () => {
  const developer = await newDeveloper(api);
  const [secret, none] = [
    await newReceiver(api, developer, WANTED.url, 'Bearer 5Lw2pQ8vX'),
    await newReceiver(api, developer, WANTED.url),
  ];
  const sealedOf = async ({ receiver_id }: NewReceiver) => {
    const row = await database
      .knex('security_event_receivers')
      .where({ receiver_id })
      .first<{ authorization_sealed: Buffer | null }>();
    return row.authorization_sealed;
  };
  const keyring = createKeyring([Buffer.from(MASTER_KEY, 'base64')], systemRandom);
  const sealed = await sealedOf(secret);
  expect(sealed!.includes('5Lw2pQ8vX')).toBe(false);
  expect(keyring.open(sealed!, `security-event-receiver:${secret.receiver_id}`).toString()).toBe(
    'Bearer 5Lw2pQ8vX',
  );
  expect(await sealedOf(none)).toBeNull();
});

test('sealed values can be read after a rotation of the master key', async () => {
  const DATABASE_URL = await createTestDatabase();
  const before = await startTestService({ DATABASE_URL, ...LOOPBACK });
  const developer = await newDeveloper(before.api);
  const receiver = await startReceiver(202);
  await newReceiver(before.api, developer, receiver.url, 'Bearer 5Lw2pQ8vX');
  await newReceiver(before.api, developer, receiver.url);
  await before.stop();
  const newKey = randomBytes(32).toString('base64');
  const during = await startTestService({ DATABASE_URL, MASTER_KEY: `${newKey},${MASTER_KEY}`, ...LOOPBACK });
  const { keyId } = createKeyring([Buffer.from(newKey, 'base64')], systemRandom);
  const keys = async () => {
    await during.services.securityEvents.reseal();
    const { rows } = await during.database.knex.raw<{ rows: object[] }>(
      `select substring(authorization_sealed from 1 for 8) as key from security_event_receivers
       where authorization_sealed is not null`,
    );
    return rows;
  };
  await expect.poll(keys).toEqual([{ key: keyId }]);
  await publishRevocation(during, developer);
  await expect.poll(() => receiver.received).toHaveLength(2);
  const sent = receiver.received.map(({ headers }) => headers.authorization);
  expect(sent.toSorted()).toEqual(['Bearer 5Lw2pQ8vX', undefined]);
});

test('is in the audit log, without the URL and the secret', async () => {
  const developer = await newDeveloper(api);
  const { receiver_id } = await newReceiver(api, developer, WANTED.url, 'Bearer 5Lw2pQ8vX');
  const path = '/api/v2/dev/audit-log?action=security_event_receiver.created';
  const { body } = await api.call<{ data: object[] }>('GET', path, undefined, { token: developer.token });
  expect(body.data).toMatchObject([{ target: receiver_id, data: { audience: WANTED.audience } }]);
  expect(JSON.stringify(body)).not.toMatch(/5Lw2pQ8vX|key=a/);
});

describe('a URL that is refused', async () => {
  const strict = await startTestService();
  const developer = await newDeveloper(strict.api);

  test.each([
    'http://idp.example.com/',
    'http://8.8.8.8/',
    'http://localhost/',
    'ftp://example.com/',
    'javascript:alert(1)',
    'example.com',
    '',
    'https://user:password@example.com/',
    'https://example.com:22/',
    'https://127.0.0.1/',
    'http://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:169.254.169.254]/',
    'http://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1/',
    'https://example.com/\u0000',
    `https://example.com/${'a'.repeat(2048)}`,
    null,
  ])('%j', async (url) => {
    expectFaults(await createReceiver(strict.api, developer, { ...WANTED, url }), '/url');
  });

  test.each(['https://127.0.0.1/', 'http://127.0.0.1:8080/', 'http://127.1/', 'http://[::ffff:127.0.0.1]/'])(
    'is %j no longer where its network is allowed',
    async (url) => {
      const { status, body } = await createReceiver(api, await newDeveloper(api), { ...WANTED, url });
      expect([status, body.url]).toEqual([201, url]);
    },
  );

  test.each(['http://idp.example.com/', 'http://8.8.8.8/', 'http://10.0.0.1/', 'http://localhost/'])(
    'is %j there too',
    async (url) => {
      expectFaults(await createReceiver(api, await newDeveloper(api), { ...WANTED, url }), '/url');
    },
  );
});

test.each([
  [{ url: WANTED.url }, '/audience'],
  [{ audience: WANTED.audience }, '/url'],
  [{ ...WANTED, audience: '' }, '/audience'],
  [{ ...WANTED, audience: 'with space' }, '/audience'],
  [{ ...WANTED, audience: ['a'] }, '/audience'],
  [{ ...WANTED, authorization: '' }, '/authorization'],
  [{ ...WANTED, authorization: 'a\r\nb: c' }, '/authorization'],
  [{ ...WANTED, authorization: 'ä' }, '/authorization'],
  [{ ...WANTED, authorization: 'a'.repeat(1025) }, '/authorization'],
])('VALIDATION_FAILED for %j', async (body, pointer) => {
  expectFaults(await createReceiver(api, await newDeveloper(api), body), pointer);
});

test('a developer has 20 at most, also when the last ones are added at once', async () => {
  const developer = await newDeveloper(api);
  for (let count = 0; count < 12; count += 1) await createReceiver(api, developer, WANTED);
  // Not more at once: on a busy machine who waits too long for a connection gets 503.
  const responses = await Promise.all(
    Array.from({ length: 12 }, () => createReceiver(api, developer, WANTED)),
  );
  const refused = responses.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(4);
  for (const response of refused) expectError(response, 409, 'TOO_MANY_RECEIVERS');
  await deleteReceiver(api, developer, responses.find(({ status }) => status === 201)!.body.receiver_id);
  expect((await createReceiver(api, developer, WANTED)).status).toBe(201);
  expectError(await createReceiver(api, developer, WANTED), 409, 'TOO_MANY_RECEIVERS');
  expect((await createReceiver(api, await newDeveloper(api), WANTED)).status).toBe(201);
});

test('with an Idempotency-Key it is added once', async () => {
  const { token } = await newDeveloper(api);
  const send = (body: object) =>
    api.post<NewReceiver>(RECEIVERS, body, { token, headers: { 'idempotency-key': 'a-key' } });
  const responses = [await send(WANTED), await send(WANTED)];
  expect(responses[1]!.body).toEqual(responses[0]!.body);
  expect(responses[1]!.headers.get('idempotency-replayed')).toBe('true');
  expectError(await send({ ...WANTED, audience: 'another' }), 422, 'IDEMPOTENCY_KEY_REUSED');
});

test('INSUFFICIENT_SCOPE without auth:dev', async () => {
  const weak = await newApiToken(api, await newDeveloper(api), ['read', 'write']);
  expectError(await createReceiver(api, weak, WANTED), 403, 'INSUFFICIENT_SCOPE');
});
