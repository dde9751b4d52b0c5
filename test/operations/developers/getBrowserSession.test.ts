import { expect, test } from 'vitest';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { newBrowserSession, SAME_ORIGIN } from '../../support/browser-session.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';

const { api } = await startTestService();
const developer = await newDeveloper(api);
const PATH = '/api/v2/dev/browser-session';

test('returns the session of the cookie', async () => {
  const ofDeveloper = await newBrowserSession(api, developer);
  const ofAdministrator = await newBrowserSession(api, ADMINISTRATOR);
  const { body } = await api.call('GET', PATH, undefined, ofDeveloper);
  expect(body).toMatchObject({ kind: 'developer', developer_id: developer.developerId, reseller_id: null });
  expect((await api.call('GET', PATH, undefined, ofAdministrator)).body).toMatchObject({
    kind: 'administrator',
    developer_id: null,
  });
});

test.each<[string, () => Promise<string>]>([
  ['no cookie', async () => ''],
  ['another cookie', async () => 'session=lkb_0'],
  ['a value that no session has', async () => `latchkey_session=lkb_${'x'.repeat(43)}`],
  ['a bearer token in the cookie', async () => `latchkey_session=${developer.token}`],
  [
    'two cookies of the name',
    async () => {
      const { headers } = await newBrowserSession(api, developer);
      return `${headers['cookie']}; latchkey_session=lkb_${'x'.repeat(43)}`;
    },
  ],
])('UNAUTHORIZED: %s', async (_how, make) => {
  const headers = { ...SAME_ORIGIN, cookie: await make() };
  expectError(await api.call('GET', PATH, undefined, { headers }), 401, 'UNAUTHORIZED');
  expectError(await api.call('GET', '/api/v2/dev/me', undefined, { headers }), 401, 'UNAUTHORIZED');
});

test('does not accept a bearer token', async () => {
  const { token } = developer;
  expectError(await api.call('GET', PATH, undefined, { token }), 401, 'UNAUTHORIZED');
});
