import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { newTrustedClient, trustedHeaders } from '../../support/trusted-client.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api, clock } = await startTestService();
const HASH = 'ab'.repeat(32);

const init = (body: object) => api.post('/api/v2/client/init', body);

test('names the application and a new run of the program, without the secret', async () => {
  const { app_id } = await newApp(api);
  const first = await init({ app_id });
  expect(first.status).toBe(200);
  expect(first.body).toEqual({
    status: 'success',
    session_id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
    app_name: expect.stringMatching(/^App-/),
    status_code: 'active',
  });
  const second = await init({ app_id });
  expect(second.body['session_id']).not.toBe(first.body['session_id']);
});

test('works while secretless_clients is off', async () => {
  const { app_id, patch } = await newApp(api);
  await patch({ secretless_clients: false });
  expect((await init({ app_id })).status).toBe(200);
});

test('reports a pause and a required update', async () => {
  const { app_id, patch } = await newApp(api);
  await patch({ minimum_version: '2.0.0', download_url: 'https://example.com/setup.exe' });
  expect((await init({ app_id, version: '1.9.9' })).body).toMatchObject({
    status_code: 'update_required',
    download_url: 'https://example.com/setup.exe',
  });
  expect((await init({ app_id, version: '2.0.0' })).body['status_code']).toBe('active');
  await patch({ paused: true });
  expect((await init({ app_id, version: '2.0.0' })).body['status_code']).toBe('paused');
});

test('INTEGRITY_FAILED unless the hash of the program is allowed', async () => {
  const { app_id, patch } = await newApp(api);
  await patch({ integrity_check: true, executable_hashes: [HASH] });
  expectError(await init({ app_id }), 403, 'INTEGRITY_FAILED');
  expectError(await init({ app_id, executable_hash: 'cd'.repeat(32) }), 403, 'INTEGRITY_FAILED');
  expect((await init({ app_id, executable_hash: HASH.toUpperCase() })).status).toBe(200);
});

test('VPN_BLOCKED', async () => {
  const { app_id, patch } = await newApp(api);
  await patch({ block_vpn: true, vpn_fail_closed: true });
  expectError(await init({ app_id }), 403, 'VPN_BLOCKED');
});

test('APPLICATION_NOT_FOUND and APPLICATION_INACTIVE', async () => {
  const { app_id, token, patch } = await newApp(api);
  expectError(await init({ app_id: `app_${'0'.repeat(26)}` }), 404, 'APPLICATION_NOT_FOUND');
  await patch({ status: 'disabled' });
  expectError(await init({ app_id }), 401, 'APPLICATION_INACTIVE');
  await api.call('DELETE', `/api/v2/dev/apps/${app_id}`, undefined, { token });
  expectError(await init({ app_id }), 404, 'APPLICATION_NOT_FOUND');
});

test('CLIENT_TRUST_REQUIRED unless the request requests a signed response', async () => {
  const app = await newApp(api);
  const { app_id, patch } = app;
  const client = await newTrustedClient(api, app, () => clock.now());
  await patch({ require_client_trust: true });
  expectError(await init({ app_id }), 426, 'CLIENT_TRUST_REQUIRED');
  const path = '/api/v2/client/init';
  const body = JSON.stringify({ app_id });
  const headers = trustedHeaders(app_id, { method: 'POST', path }, body, undefined, { at: clock.now() });
  const { status } = await api.post(path, body, { headers });
  expect(status).toBe(200);
  expect((await client.call('POST', '/api/v2/client/init', { app_id })).status).toBe(200);
});

test('VALIDATION_FAILED', async () => {
  expectFaults(await init({}), '/app_id');
  const { app_id } = await newApp(api);
  expectFaults(await init({ app_id, version: 1, executable_hash: '' }), '/executable_hash', '/version');
});
