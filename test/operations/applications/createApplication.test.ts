import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { connectTo } from '../../support/database.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { limitPlan } from '../support/plans.ts';

const { api, clock, databaseUrl } = await startTestService();

const create = (token: string | undefined, body: object = { name: 'Aurora' }) =>
  api.post<components['schemas']['CreateApplicationResult']>('/api/v2/dev/apps', body, { token });

test('creates an active application with the hardware lock on, and shows its secret', async () => {
  const { token } = await newDeveloper(api);
  const { status, body } = await create(token, { name: ' Aurora “Editor” 🦊 ' });
  expect(status).toBe(201);
  const now = clock.now().toISOString();
  expect(body).toEqual({
    status: 'success',
    app_id: expect.stringMatching(/^app_[0-9a-z]{26}$/),
    secret: expect.stringMatching(/^sk_[A-Za-z0-9_-]{43}$/),
    name: ' Aurora “Editor” 🦊 ',
    status_code: 'active',
    paused: false,
    hwid_lock: true,
    integrity_check: false,
    executable_hashes: [],
    pause_sessions: false,
    require_subscription: false,
    require_signatures: false,
    bind_responses: true,
    secretless_clients: true,
    require_client_trust: false,
    block_vpn: false,
    vpn_fail_closed: false,
    minimum_version: null,
    download_url: null,
    max_sessions: 5,
    tiers: ['Standard', 'Pro', 'VIP'],
    users: 0,
    previous_secret_until: null,
    created_at: now,
    updated_at: now,
    signing_keys: (['signing', 'next'] as const).map((state) => ({
      kid: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      alg: 'EdDSA',
      public_key: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      state,
      created_at: now,
      signing_since: state === 'signing' ? now : null,
      retired_at: null,
    })),
  });
  expect((await api.init({ app_id: body.app_id, secret: body.secret })).body).toMatchObject({
    app_name: ' Aurora “Editor” 🦊 ',
  });
});

test('the secret is shown once and kept encrypted', async () => {
  const { token } = await newDeveloper(api);
  const { app_id, secret } = (await create(token)).body;
  for (const path of ['/api/v2/dev/apps', `/api/v2/dev/apps/${app_id}`]) {
    const { body } = await api.call('GET', path, undefined, { token });
    expect(JSON.stringify(body)).not.toMatch(/"secret"|sk_/);
  }
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ sealed: Buffer }>(
    'select secret_sealed as sealed from applications where app_id = $1',
    [app_id],
  );
  expect(rows[0]!.sealed.includes(secret)).toBe(false);
});

test('names can be equal; identifiers and secrets differ', async () => {
  const { token } = await newDeveloper(api);
  const [first, second] = [await create(token), await create(token)];
  expect(second.body.app_id > first.body.app_id).toBe(true);
  expect(second.body.secret).not.toBe(first.body.secret);
});

test('uses only the name', async () => {
  const { token } = await newDeveloper(api);
  const { body } = await create(token, {
    name: 'A',
    developer_id: 'dev_1',
    app_id: 'app_1',
    secret: 'known',
    users: -5,
  });
  expect(body).toMatchObject({ app_id: expect.stringMatching(/^app_.{26}$/), users: 0 });
  expect(body.secret).not.toBe('known');
});

describe('QUOTA_EXCEEDED', () => {
  test('when the plan is full, even with concurrent requests', async () => {
    const developer = await newDeveloper(api);
    await limitPlan(databaseUrl, developer, { apps: 2 });
    const responses = await Promise.all(Array.from({ length: 6 }, () => create(developer.token)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(2);
    for (const response of responses)
      if (response.status !== 201) expectError(response, 403, 'QUOTA_EXCEEDED');
    const { body } = await api.call('GET', '/api/v2/dev/apps', undefined, { token: developer.token });
    expect(body['data']).toHaveLength(2);
  });

  test('the free plan allows 25', async () => {
    const { token } = await newDeveloper(api);
    for (let app = 0; app < 25; app++) expect((await create(token)).status).toBe(201);
    expectError(await create(token), 403, 'QUOTA_EXCEEDED');
  });
});

test('UNAUTHORIZED without a token, before anything about the body', async () => {
  expectError(await create(undefined), 401, 'UNAUTHORIZED');
  expectError(await create(undefined, {}), 401, 'UNAUTHORIZED');
  expectError(await api.post('/api/v2/dev/apps', '{'), 401, 'UNAUTHORIZED');
});

test.each([
  [{}],
  [{ name: '' }],
  [{ name: null }],
  [{ name: 1 }],
  [{ name: 'n'.repeat(101) }],
  [{ name: 'a\u0000b' }],
  [{ name: 'a\u202eb' }],
])('VALIDATION_FAILED for %j', async (body) => {
  expectFaults(await create((await newDeveloper(api)).token, body), '/name');
});
