import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';

const { api, clock } = await startTestService();
const get = (agentId: string, token: string) =>
  api.call<components['schemas']['AgentResult']>('GET', `/api/v2/dev/agents/${agentId}`, undefined, {
    token,
  });

test('shows an agent with its live credentials, without the secrets', async () => {
  const { email, password, token } = await newDeveloper(api);
  const { body } = await api.post<components['schemas']['CreateAgentResult']>(
    '/api/v2/dev/agents',
    { name: 'Bot', scopes: ['read'] },
    { token },
  );
  const found = await get(body.agent_id, token);
  expect(found.body).toMatchObject({ agent_id: body.agent_id, name: 'Bot', revoked_at: null });
  expect(found.body.credentials).toEqual([
    {
      credential_type: 'bearer_token',
      scopes: ['read'],
      created_at: clock.now().toISOString(),
      expires_at: body.credential_expires,
    },
  ]);
  expect(JSON.stringify(found.body)).not.toContain(body.credential);
  expectError(await get(body.agent_id, (await newDeveloper(api)).token), 404, 'AGENT_NOT_FOUND');
  clock.advance(90 * DAY);
  const again = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  expect((await get(body.agent_id, again.body.token)).body.credentials).toEqual([]);
});
