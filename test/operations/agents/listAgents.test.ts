import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { claim, codeOf, pageFor, register, registerEmail } from '../support/agents.ts';
import { expectFaults } from '../support/errors.ts';

const service = await startTestService();
const { api } = service;
const list = (token: string, query = '') =>
  api.call<components['schemas']['AgentList']>('GET', `/api/v2/dev/agents${query}`, undefined, { token });

test('the agents of a developer, newest first, in pages, revoked ones too, and no other', async () => {
  const { token } = await newDeveloper(api);
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    const { body } = await api.post<{ agent_id: string }>(
      '/api/v2/dev/agents',
      { name, scopes: ['read'] },
      { token },
    );
    ids.unshift(body.agent_id);
  }
  await api.call('DELETE', `/api/v2/dev/agents/${ids[1]}`, undefined, { token });
  const first = await list(token, '?limit=2');
  expect(first.body.data.map(({ agent_id }) => agent_id)).toEqual(ids.slice(0, 2));
  expect(first.body.data.map(({ revoked_at }) => revoked_at !== null)).toEqual([false, true]);
  const second = await list(token, `?limit=2&cursor=${first.body.next_cursor}`);
  expect(second.body.data.map(({ agent_id }) => agent_id)).toEqual(ids.slice(2));
  expect(second.body.next_cursor).toBeNull();
  expect((await list((await newDeveloper(api)).token)).body.data).toEqual([]);
  expectFaults(await list(token, '?cursor=x'), 'query/cursor');
});

test('an agent is listed once it is claimed', async () => {
  const { token, email, password } = await newDeveloper(api);
  await register(api, { type: 'anonymous' });
  const { body } = await registerEmail(api, email, { name: 'Bot' });
  expect((await list(token)).body.data).toEqual([]);
  const otp = await codeOf(api, await pageFor(service, email), password);
  await claim(api, { claim_token: body.claim_token, otp });
  expect((await list(token)).body.data).toMatchObject([
    {
      agent_id: body.registration_id,
      registration_type: 'email-verification',
      name: 'Bot',
      revoked_at: null,
    },
  ]);
});
