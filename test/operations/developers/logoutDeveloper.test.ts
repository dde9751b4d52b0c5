import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const first = await startTestService();
const second = await startTestService({ DATABASE_URL: first.databaseUrl });
const { api } = first;

const logout = (token: string | undefined, at = api) =>
  at.call('POST', '/api/v2/dev/logout', undefined, { token });
const me = async (token: string, at = api) =>
  (await at.call('GET', '/api/v2/dev/me', undefined, { token })).status;

async function login(account: { email: string; password: string }): Promise<string> {
  const { email, password } = account;
  const response = await api.post<components['schemas']['DeveloperSessionResult']>('/api/v2/dev/login', {
    email,
    password,
  });
  return response.body.token;
}

test('the token is invalid on every node when the response arrives, and no other one', async () => {
  const developer = await newDeveloper(api);
  const other = await login(developer);
  // Both nodes have seen it.
  expect([await me(developer.token), await me(developer.token, second.api)]).toEqual([200, 200]);
  const { status, body } = await logout(developer.token);
  expect({ status, body }).toEqual({ status: 200, body: { status: 'success', message: 'Token ended.' } });
  expect([await me(developer.token), await me(developer.token, second.api)]).toEqual([401, 401]);
  expect(await me(other, second.api)).toBe(200);
  expectError(await logout(developer.token, second.api), 401, 'UNAUTHORIZED');
});

test('of concurrent requests to two nodes, one ends it', async () => {
  const { token } = await newDeveloper(api);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => logout(token, n % 2 === 0 ? api : second.api)),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(401)]);
});

describe('an API token revokes itself', () => {
  test.each([['read'], ['write'], ['auth:dev']] as const)('with the scope %s', async (scope) => {
    const developer = await newDeveloper(api);
    const own = await newApiToken(api, developer, [scope]);
    const other = await newApiToken(api, developer, ['read']);
    expect((await logout(own.token)).status).toBe(200);
    expectError(await logout(own.token, second.api), 401, 'UNAUTHORIZED');
    expect([await me(other.token), await me(developer.token)]).toEqual([200, 200]);
    expect(await auditLog(api, developer, '&action=api_token.revoked')).toMatchObject([
      { actor: { kind: 'api_token', id: own.token_id }, target: own.token_id },
    ]);
  });
});

test('registration, login and logout are in the audit log, with the address', async () => {
  const developer = await newDeveloper(api);
  const token = await login(developer);
  await logout(token);
  await api.post('/api/v2/dev/login', { email: developer.email, password: 'a wrong password' });
  const { developerId: id } = developer;
  expect(await auditLog(api, developer)).toMatchObject(
    ['developer.logged_out', 'developer.logged_in', 'developer.registered'].map((action) => ({
      action,
      actor: { kind: 'developer', id, address: '127.0.0.1' },
      app_id: null,
      target: id,
      data: {},
    })),
  );
});

test('UNAUTHORIZED without a token, and nothing has ended', async () => {
  const { token } = await newDeveloper(api);
  expectError(await logout(undefined), 401, 'UNAUTHORIZED');
  expect(await me(token)).toBe(200);
});
