import { expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { authorize, beginAuthorization, Browser, newClient } from '../../support/oauth.ts';
import { expectError } from '../support/errors.ts';
import { loginStatus, meStatus, startTwoServices } from '../support/passwords.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const { service, second } = await startTwoServices();
const { api, baseUrl } = service;

const endSessions = (token: string | undefined) =>
  api.call('DELETE', '/api/v2/dev/sessions', undefined, { token });

test('ends every other session of the developer on every node, and no others', async () => {
  const developer = await newDeveloper(api);
  const stranger = await newDeveloper(api);
  const { email, password } = developer;
  const { body: other } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  const apiToken = await newApiToken(api, developer, ['read', 'auth:dev']);
  expect(await meStatus(second.api, other.token)).toBe(200);
  const { status, body } = await endSessions(developer.token);
  expect({ status, body }).toEqual({
    status: 200,
    body: { status: 'success', message: 'Sessions ended.', ended: 1 },
  });
  const tokens = [developer.token, other.token, apiToken.token, stranger.token];
  const statuses = await Promise.all(tokens.map((each) => meStatus(second.api, each)));
  expect(statuses).toEqual([200, 401, 200, 200]);
  expect((await endSessions(apiToken.token)).body['ended']).toBe(1);
  expectError(await endSessions(developer.token), 401, 'UNAUTHORIZED');
  expect(await loginStatus(second.api, email, password)).toBe(200);
  expect(await auditLog(api, apiToken, '&action=developer.sessions_ended')).toMatchObject([
    { actor: { kind: 'api_token', id: apiToken.token_id }, data: { count: 1 } },
    { actor: { kind: 'developer', id: developer.developerId }, data: { count: 1 } },
  ]);
});

test('signs browsers out; authorizations of clients continue', async () => {
  const developer = await newDeveloper(api);
  const registered = await newClient(api, await newDeveloper(api));
  const { browser, redeem } = await authorize(baseUrl, developer, registered);
  const { access_token } = await redeem();
  expect((await endSessions(developer.token)).status).toBe(200);
  expect(await meStatus(api, access_token)).toBe(200);
  // No one is signed in, so the error is not sent to the client but shown with a link to it.
  const silent = authorize(baseUrl, developer, registered, { prompt: 'none' }, browser);
  await expect(silent).rejects.toThrow('error=login_required');
});

test('a page that is open in a browser is no longer valid', async () => {
  const { email, password, token, ...developer } = await newDeveloper(api);
  const { url } = await beginAuthorization(baseUrl, await newClient(api, await newDeveloper(api)));
  const browser = new Browser(baseUrl);
  const fields = { email, password, action: 'sign-in' };
  const consent = await browser.send(await browser.open(url), fields);
  expect(consent.html).toContain('value="allow"');
  expect((await endSessions(token)).status).toBe(200);
  expect((await browser.send(consent, { action: 'allow' })).status).toBe(400);
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  const granted = await auditLog(api, { ...developer, ...body }, '&action=authorization.granted');
  expect(granted).toEqual([]);
});

test('INSUFFICIENT_SCOPE for a token without auth:dev', async () => {
  const developer = await newDeveloper(api);
  const { token } = await newApiToken(api, developer, ['read', 'write']);
  expectError(await endSessions(token), 403, 'INSUFFICIENT_SCOPE');
  expect(await meStatus(api, developer.token)).toBe(200);
});

test('UNAUTHORIZED without a token', async () => {
  expectError(await endSessions(undefined), 401, 'UNAUTHORIZED');
});
