import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { expectFaults } from '../support/errors.ts';

const { api } = await startTestService();
const list = (token: string, query = '') =>
  api.call<components['schemas']['OAuthClientList']>('GET', `/api/v2/dev/oauth-clients${query}`, undefined, {
    token,
  });

test('lists the developer’s own, newest first, in pages', async () => {
  const developer = await newDeveloper(api);
  await newClient(api, await newDeveloper(api));
  const ids = [];
  for (let each = 0; each < 3; each += 1) ids.unshift((await newClient(api, developer)).client_id);
  const first = (await list(developer.token, '?limit=2')).body;
  const second = (await list(developer.token, `?limit=2&cursor=${first.next_cursor}`)).body;
  expect([...first.data, ...second.data].map(({ client_id }) => client_id)).toEqual(ids);
  expect(second.next_cursor).toBeNull();
  expect(JSON.stringify(first)).not.toContain('client_secret"');
});

test('refuses a cursor that no page returned', async () => {
  const { token } = await newDeveloper(api);
  expectFaults(await list(token, '?cursor=nonsense'), 'query/cursor');
});
