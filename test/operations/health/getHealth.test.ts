import { expect, test } from 'vitest';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';

const service = await startTestService();
const { api, clock } = service;

test('is operational, without credentials, at the present time', async () => {
  const { status, body } = await api.call('GET', '/health');
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    message: 'operational',
    timestamp: clock.now().toISOString(),
  });
});

test('takes no notice of a query, a body or a token that nobody asked for', async () => {
  const headers = { authorization: 'Bearer nonsense' };
  expect((await api.call('GET', '/health', undefined, { headers })).status).toBe(200);
});

test('answers HEAD as GET, without a body', async () => {
  const response = await fetch(`${service.baseUrl}/health`, { method: 'HEAD' });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('');
});

test('HEALTH_CHECK_FAILED when the database is gone, in both models, naming the part', async () => {
  const broken = await startTestService({ DATABASE_URL: service.databaseUrl });
  await broken.database.close();
  const answer = await broken.api.call('GET', '/health');
  expectError(answer, 500, 'HEALTH_CHECK_FAILED');
  expect(answer.body).toMatchObject({ detail: 'The database is not operational.' });
  const legacy = await fetch(`${broken.baseUrl}/health`, { headers: { accept: 'application/json' } });
  expect(legacy.status).toBe(500);
  expect(await legacy.json()).toMatchObject({ status: 'error', error: 'HEALTH_CHECK_FAILED', code: 500 });
});
