import { expect, test } from 'vitest';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { newBrowserSession, SAME_ORIGIN } from '../../support/browser-session.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { expectError } from '../support/errors.ts';
import { meStatus, startTwoServices } from '../support/passwords.ts';
import { newReseller } from '../support/resellers.ts';
import { auditLog } from '../support/tokens.ts';

const { service, second } = await startTwoServices();
const { api } = service;
const developer = await newDeveloper(api);
const PATH = '/api/v2/dev/browser-session';

test('ends the session on every node, and no other one', async () => {
  const browser = await newBrowserSession(api, developer);
  const other = await newBrowserSession(api, developer);
  const response = await api.call('DELETE', PATH, undefined, browser);
  expect(response.body).toEqual({ status: 'success', message: 'Signed out.' });
  expect(response.headers.getSetCookie()).toEqual([
    'latchkey_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
  ]);
  expectError(await second.api.call('GET', '/api/v2/dev/me', undefined, browser), 401, 'UNAUTHORIZED');
  expect((await second.api.call('GET', '/api/v2/dev/me', undefined, other)).status).toBe(200);
  expect(await meStatus(second.api, developer.token)).toBe(200);
  expect(await auditLog(api, developer, '&action=developer.logged_out')).toHaveLength(1);
});

test('ends the sessions of resellers and the administrator', async () => {
  const reseller = await newReseller(api, await newApp(api, developer));
  const cases = [
    [await newBrowserSession(api, { token: reseller.token }), '/api/v2/dev/reseller', 'reseller.signed_out'],
    [await newBrowserSession(api, ADMINISTRATOR), '/api/v2/admin/plans', 'administrator.signed_out'],
  ] as const;
  for (const [browser, path, action] of cases) {
    expect((await api.call('GET', path, undefined, browser)).status).toBe(200);
    expect((await api.call('DELETE', PATH, undefined, browser)).status).toBe(200);
    expectError(await second.api.call('GET', path, undefined, browser), 401, 'UNAUTHORIZED');
    const log =
      action === 'administrator.signed_out'
        ? await api.call('GET', `/api/v2/admin/audit-log?action=${action}`, undefined, ADMINISTRATOR)
        : { body: { data: await auditLog(api, developer, `&action=${action}`) } };
    expect(log.body['data']).toHaveLength(1);
  }
  // The token itself still works.
  expect((await api.call('GET', '/api/v2/dev/reseller', undefined, reseller)).status).toBe(200);
});

test('ends the sessions of all cookies if another page of the host name has set one', async () => {
  const [mine, planted] = [await newBrowserSession(api, developer), await newBrowserSession(api, developer)];
  const cookie = `${planted.headers['cookie']}; ${mine.headers['cookie']}`;
  const both = { headers: { ...SAME_ORIGIN, cookie } };
  expectError(await api.call('GET', PATH, undefined, both), 401, 'UNAUTHORIZED');
  expect((await api.call('DELETE', PATH, undefined, both)).status).toBe(200);
  for (const browser of [mine, planted]) {
    expectError(await api.call('GET', PATH, undefined, browser), 401, 'UNAUTHORIZED');
  }
});

test('deletes the cookie even if the session has ended', async () => {
  const browser = await newBrowserSession(api, developer);
  for (const headers of [browser.headers, browser.headers, SAME_ORIGIN]) {
    const response = await api.call('DELETE', PATH, undefined, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie()).toHaveLength(1);
  }
});
