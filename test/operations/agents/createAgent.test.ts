import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api, clock } = await startTestService();
const { token, developerId } = await newDeveloper(api);

type Created = components['schemas']['CreateAgentResult'] & { readonly scope?: string };
const create = (body: object, by = token) => api.post<Created>('/api/v2/dev/agents', body, { token: by });

describe('an agent of the developer', () => {
  test('gets a bearer token with the named scopes', async () => {
    const { status, body } = await create({ name: 'Bot', scopes: ['read', 'agent:execute'] });
    expect(status).toBe(201);
    expect(body).toEqual({
      status: 'success',
      agent_id: expect.stringMatching(/^agt_/),
      registration_type: 'developer',
      name: 'Bot',
      issuer: null,
      subject: null,
      client_id: null,
      created_at: clock.now().toISOString(),
      revoked_at: null,
      credential_type: 'bearer_token',
      credential: expect.stringMatching(/^lka_[\w-]{43}$/),
      credential_expires: new Date(clock.now().getTime() + 90 * DAY).toISOString(),
      scopes: ['read', 'agent:execute'],
    });
    const me = await api.call<{ developer_id: string }>('GET', '/api/v2/dev/me', undefined, {
      token: body.credential,
    });
    expect(me.body.developer_id).toBe(developerId);
    const wanted = { name: 'App' };
    expectError(
      await api.post('/api/v2/dev/apps', wanted, { token: body.credential }),
      403,
      'INSUFFICIENT_SCOPE',
    );
    const { body: log } = await api.call<{ data: object[] }>('GET', '/api/v2/dev/audit-log', undefined, {
      token,
    });
    expect(log.data[0]).toMatchObject({ action: 'agent.created', target: body.agent_id });
    expect(JSON.stringify(log)).not.toContain(body.credential);
  });

  test('is the actor of its changes in the audit log', async () => {
    const { body } = await create({ name: 'Bot', scopes: ['read', 'write'] });
    expect((await api.post('/api/v2/dev/apps', { name: 'App' }, { token: body.credential })).status).toBe(
      201,
    );
    const { body: log } = await api.call<{ data: object[] }>('GET', '/api/v2/dev/audit-log', undefined, {
      token,
    });
    expect(JSON.stringify(log.data[0])).toContain(body.agent_id);
  });

  test('gets a JWT on request', async () => {
    const { body } = await create({ name: 'Bot', credential_type: 'jwt', scopes: ['read'] });
    expect(body.credential.split('.')).toHaveLength(3);
    expect((await api.call('GET', '/api/v2/dev/me', undefined, { token: body.credential })).status).toBe(200);
  });

  test('gets no more scopes than the token that creates it', async () => {
    const scopes = ['read', 'agent:register'];
    const { body: maker } = await api.post<{ token: string }>(
      '/api/v2/dev/tokens',
      { name: 'maker', scopes },
      { token },
    );
    expect((await create({ name: 'Bot', scopes: ['read'] }, maker.token)).status).toBe(201);
    const refused = await create({ name: 'Bot', scopes: ['read', 'write'] }, maker.token);
    expectError(refused, 403, 'INSUFFICIENT_SCOPE');
    expect(refused.body.scope).toBe('write');
  });

  test('cannot create another agent', async () => {
    const { body } = await create({ name: 'Bot', scopes: ['read', 'write', 'auth:dev', 'agent:execute'] });
    expectError(await create({ name: 'Bot', scopes: ['read'] }, body.credential), 403, 'INSUFFICIENT_SCOPE');
    expectFaults(await create({ name: 'Bot', scopes: ['agent:register'] }), '/scopes/0');
  });
});
