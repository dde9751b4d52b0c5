import { expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { authorize, newClient } from '../../support/oauth.ts';
import { mailsTo, newAgent } from '../support/agents.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import {
  changePassword,
  completeReset,
  loginStatus,
  meStatus,
  newResetToken,
  startTwoServices,
} from '../support/passwords.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const { service, second } = await startTwoServices();
const { api, baseUrl } = service;
const NEXT = 'a new password';

test('the new password is valid; other sessions end, this one and API tokens continue', async () => {
  const developer = await newDeveloper(api);
  const { email, password, token } = developer;
  const { body: other } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  const apiToken = await newApiToken(api, developer, ['read']);
  const { status, body } = await changePassword(api, token, password, NEXT);
  expect({ status, body }).toEqual({ status: 200, body: { status: 'success', message: 'Password set.' } });
  const statuses = [token, other.token, apiToken.token].map((each) => meStatus(second.api, each));
  expect(await Promise.all(statuses)).toEqual([200, 401, 200]);
  expect(await loginStatus(second.api, email, password)).toBe(401);
  expect(await loginStatus(second.api, email, NEXT)).toBe(200);
  expect(await auditLog(api, developer, '&action=developer.password_changed')).toMatchObject([
    { actor: { kind: 'developer', id: developer.developerId }, target: developer.developerId },
  ]);
  const [mail] = await mailsTo(service, email, 1);
  expect(mail!.subject).toContain('was changed');
});

test('an API token can change it, which ends every session', async () => {
  const developer = await newDeveloper(api);
  const { token: apiToken } = await newApiToken(api, developer, ['read', 'auth:dev']);
  expect((await changePassword(api, apiToken, developer.password, NEXT)).status).toBe(200);
  expect([await meStatus(api, developer.token), await meStatus(api, apiToken)]).toEqual([401, 200]);
});

test('a link that was mailed before is no longer valid', async () => {
  const { email, password, token } = await newDeveloper(api);
  const reset = await newResetToken(service, email);
  await changePassword(api, token, password, NEXT);
  const response = await completeReset(api, { token: reset, password: 'a third password' });
  expectError(response, 401, 'INVALID_RESET_TOKEN');
});

test('of concurrent requests with the same password one succeeds, and its session is the only one', async () => {
  const { email, password, token } = await newDeveloper(api);
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      changePassword(n % 2 === 0 ? api : second.api, token, password, `password number ${n}`),
    ),
  );
  const winners = responses.flatMap(({ status }, n) => (status === 200 ? [n] : []));
  expect(winners.length).toBeGreaterThan(0);
  const opens = await Promise.all(winners.map((n) => loginStatus(api, email, `password number ${n}`)));
  expect(opens.filter((status) => status === 200)).toHaveLength(1);
  expect(await meStatus(second.api, token)).toBe(200);
});

test('INVALID_CREDENTIALS for a wrong password, and nothing has changed', async () => {
  const { email, password, token } = await newDeveloper(api);
  expectError(await changePassword(api, token, 'a wrong password', NEXT), 403, 'INVALID_CREDENTIALS');
  expect(await loginStatus(api, email, password)).toBe(200);
});

test('TOO_MANY_REQUESTS after ten wrong passwords, even for the right one', async () => {
  const { password, token } = await newDeveloper(api);
  for (let n = 0; n < 10; n += 1) {
    expectError(await changePassword(api, token, 'a wrong password', NEXT), 403, 'INVALID_CREDENTIALS');
  }
  expectError(await changePassword(api, token, password, NEXT), 429, 'TOO_MANY_REQUESTS');
});

test('DELEGATED_CREDENTIAL for clients and agents, even with the password', async () => {
  const developer = await newDeveloper(api);
  const scopes = { scopes: ['openid', 'read', 'auth:dev'] as const };
  const registered = await newClient(api, await newDeveloper(api), { scopes: [...scopes.scopes] });
  const { redeem } = await authorize(baseUrl, developer, registered, { scope: 'openid read auth:dev' });
  const { access_token } = await redeem();
  const agent = await newAgent(api, developer, ['read', 'auth:dev']);
  for (const token of [access_token, agent.credential]) {
    expectError(await changePassword(api, token, developer.password, NEXT), 403, 'DELEGATED_CREDENTIAL');
  }
});

test('VALIDATION_FAILED for an invalid new one', async () => {
  const { password, token } = await newDeveloper(api);
  for (const next of ['', 'short', 'x'.repeat(129)]) {
    expectFaults(await changePassword(api, token, password, next), '/new_password');
  }
});

test('UNAUTHORIZED without a token', async () => {
  expectError(await changePassword(api, undefined, 'a password', NEXT), 401, 'UNAUTHORIZED');
});
