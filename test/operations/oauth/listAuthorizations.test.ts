import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { authorize, newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { auditLog } from '../support/tokens.ts';

const service = await startTestService();
const { api, clock } = service;
const list = (token: string, query = '') =>
  api.call<components['schemas']['AuthorizationList']>(
    'GET',
    `/api/v2/dev/authorizations${query}`,
    undefined,
    { token },
  );

test('lists what the developer has consented to, newest first, in pages', async () => {
  const [owner, developer] = [await newDeveloper(api), await newDeveloper(api)];
  const clients = [await newClient(api, owner), await newClient(api, owner)];
  for (const each of clients) await authorize(service.baseUrl, developer, each);
  const first = (await list(developer.token, '?limit=1')).body;
  expect(first.data).toEqual([
    {
      authorization_id: expect.stringMatching(/^grt_[0-9a-z]{26}$/),
      client_id: clients[1]!.client_id,
      client_name: clients[1]!.name,
      scopes: ['openid', 'email', 'read'],
      created_at: clock.now().toISOString(),
      expires_at: new Date(clock.now().getTime() + 30 * DAY).toISOString(),
    },
  ]);
  const second = (await list(developer.token, `?limit=1&cursor=${first.next_cursor}`)).body;
  expect(second.data.map(({ client_id }) => client_id)).toEqual([clients[0]!.client_id]);
  expect((await list(owner.token)).body.data).toEqual([]);
  expect((await auditLog(api, developer))[0]).toMatchObject({
    action: 'authorization.granted',
    target: first.data[0]!.authorization_id,
    data: { client_id: clients[1]!.client_id, scopes: ['openid', 'email', 'read'] },
  });
});

test('one that has ended is not listed, and cleared', async () => {
  const developer = await newDeveloper(api);
  await authorize(service.baseUrl, developer, await newClient(api, developer));
  clock.advance(30 * DAY + 1);
  const { token } = await newDeveloper(api);
  expect((await list(token)).body.data).toEqual([]);
  while ((await service.services.authorizations.clearExpired()) > 0);
  const left = await service.database.knex('oauth_records').where({ account_id: developer.developerId });
  expect(left).toEqual([]);
});
