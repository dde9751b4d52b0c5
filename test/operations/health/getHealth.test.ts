import { expect, test } from 'vitest';
import { LEGACY_ERROR_JSON } from '../../../src/http/transport/problem.ts';
import { SECOND } from '../../support/clock.ts';
import { createTestDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { startTestService, startWithLostDatabase } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';

const service = await startTestService();
const { api, clock } = service;

test('is operational, without credentials, with the current time', async () => {
  const { status, body } = await api.call('GET', '/health');
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    message: 'operational',
    timestamp: clock.now().toISOString(),
    parts: {
      database: { status: 'operational' },
      broker: { status: 'operational' },
      cluster: { status: 'operational', nodes: 1 },
    },
  });
});

test('counts the nodes that share the database, until they leave', async () => {
  const databaseUrl = await createTestDatabase();
  const [first, second] = [
    await startTestService({ DATABASE_URL: databaseUrl }),
    await startTestService({ DATABASE_URL: databaseUrl }),
  ];
  const nodes = async () => (await first.api.health()).body.parts?.cluster?.nodes;
  // A health request makes a node announce itself if it has not yet.
  await second.api.health();
  expect(await nodes()).toBe(2);
  await second.stop();
  expect(await nodes()).toBe(1);
});

test('a node that has not announced itself for 15 seconds is not counted', async () => {
  const databaseUrl = await createTestDatabase();
  const [first, silent] = [
    await startTestService({ DATABASE_URL: databaseUrl }),
    await startTestService({ DATABASE_URL: databaseUrl }),
  ];
  const nodes = async () => (await first.api.health()).body.parts?.cluster?.nodes;
  await silent.api.health();
  first.clock.advance(15 * SECOND - 1);
  expect(await nodes()).toBe(2);
  // Its own clock does not advance, so its announcements are in the past.
  first.clock.advance(1);
  expect(await nodes()).toBe(1);
});

test('HEALTH_CHECK_FAILED names the broker when it is unavailable', async () => {
  const port = await freePort();
  const alone = await startTestService({ BROKER_URL: `mqtt://127.0.0.1:${port}` });
  const response = await alone.api.health();
  expectError(response, 500, 'HEALTH_CHECK_FAILED');
  expect(response.body.detail).toBe('The messaging broker is not operational.');
});

test('ignores a query, a body and a token', async () => {
  const headers = { authorization: 'Bearer nonsense' };
  expect((await api.call('GET', '/health', undefined, { headers })).status).toBe(200);
});

test('HEAD equals GET without a body', async () => {
  const response = await fetch(`${service.baseUrl}/health`, { method: 'HEAD' });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('');
});

test('HEALTH_CHECK_FAILED names the database when it is unavailable, in both models', async () => {
  const broken = await startWithLostDatabase(service.databaseUrl);
  const response = await broken.api.call('GET', '/health');
  expectError(response, 500, 'HEALTH_CHECK_FAILED');
  expect(response.body).toMatchObject({ detail: 'The database is not operational.' });
  const legacy = await fetch(`${broken.baseUrl}/health`, { headers: { accept: LEGACY_ERROR_JSON } });
  expect(legacy.status).toBe(500);
  expect(await legacy.json()).toMatchObject({ status: 'error', error: 'HEALTH_CHECK_FAILED', code: 500 });
});
