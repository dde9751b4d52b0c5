import { expect, test } from 'vitest';
import { newDeveloper, unique } from '../support/fixtures.ts';
import { beginAuthorization, Browser, newClient } from '../support/oauth.ts';
import { startTestService } from '../support/service.ts';
import { mailsTo } from '../operations/support/agents.ts';
import { loginStatus, meStatus, newResetToken } from '../operations/support/passwords.ts';
import { newApiToken } from '../operations/support/tokens.ts';

const service = await startTestService();
const { api, baseUrl } = service;
const browser = new Browser(baseUrl);
const password = 'a new password';
const PAGE = '/account/password';

test('a developer who cannot sign in follows the links to a new password, and signs in', async () => {
  const developer = await newDeveloper(api);
  const { url } = await beginAuthorization(baseUrl, await newClient(api, await newDeveloper(api)));
  const signIn = await browser.open(url);
  const href = /<a href="([^"]+)">Forgot your password\?/.exec(signIn.html)![1]!;
  const sent = await browser.send(await browser.open(href), { email: ` ${developer.email} ` });
  expect(sent.status).toBe(200);
  expect(sent.html).toContain('Check your email');
  const [mail] = await mailsTo(service, developer.email, 1);
  const form = await browser.open(/^http\S+$/m.exec(mail!.text!)![0]);
  expect(form.html).toContain(developer.email);
  const done = await browser.send(form, { new_password: password });
  expect(done.html).toContain('Your password is set');
  const signedIn = await browser.send(signIn, { email: developer.email, password, action: 'sign-in' });
  expect(signedIn.html).toContain('value="allow"');
  // The link can be used only once.
  expect((await browser.open(form.url)).status).toBe(404);
  expect((await browser.send(form, { new_password: 'a third password' })).status).toBe(404);
});

test('the page of a claim links there, too', async () => {
  const { email } = await newDeveloper(api);
  await api.post('/api/v1/agent/register', {
    type: 'identity_assertion',
    assertion_type: 'verified_email',
    assertion: email,
  });
  const [mail] = await mailsTo(service, email, 1);
  const { html } = await browser.open(/^http\S+$/m.exec(mail!.text!)![0]);
  expect(html).toContain(`<a href="${PAGE}">Forgot your password?</a>`);
});

test('opening the link changes nothing, because programs follow links in mails', async () => {
  const { email, password: old } = await newDeveloper(api);
  const token = await newResetToken(service, email);
  for (let n = 0; n < 3; n += 1) expect((await browser.open(`${PAGE}/${token}`)).status).toBe(200);
  const head = await fetch(`${baseUrl}${PAGE}/${token}`, { method: 'HEAD' });
  expect([head.status, await loginStatus(api, email, old)]).toEqual([200, 200]);
});

test('offers to end all access to the account, preselected if the account may be compromised', async () => {
  const developer = await newDeveloper(api);
  const apiToken = await newApiToken(api, developer, ['read']);
  const first = await browser.open(`${PAGE}/${await newResetToken(service, developer.email)}`);
  expect(first.html).toMatch(/name="end_access" value="yes" checked/);
  await browser.send(first, { new_password: password });
  expect(await meStatus(api, apiToken.token)).toBe(200);
  const second = await browser.open(`${PAGE}/${await newResetToken(service, developer.email)}`);
  expect(second.html).toMatch(/name="end_access" value="yes">/);
  await browser.send(second, { new_password: password, end_access: 'yes' });
  expect(await meStatus(api, apiToken.token)).toBe(401);
});

test('shows the errors of a password or an address, and the form again', async () => {
  const { email } = await newDeveloper(api);
  const form = await browser.open(`${PAGE}/${await newResetToken(service, email)}`);
  for (const new_password of ['', 'short', 'x'.repeat(129)]) {
    const again = await browser.send(form, { new_password });
    expect(again.status).toBe(422);
    expect(again.html).toContain('A password has 8 to 128 characters.');
  }
  const sent = await browser.send(await browser.open(PAGE), { email: '"><script>alert(1)</script>' });
  expect(sent.status).toBe(422);
  expect(sent.html).not.toContain('<script');
});

test('an unknown address gets the same response as a known one', async () => {
  const form = await browser.open(PAGE);
  const known = await browser.send(form, { email: (await newDeveloper(api)).email });
  const unknown = await browser.send(form, { email: `${unique('unknown')}@example.com` });
  expect([unknown.status, unknown.html]).toEqual([known.status, known.html]);
});

test('forms from other sites are refused', async () => {
  const { email, password: old } = await newDeveloper(api);
  const token = await newResetToken(service, email);
  for (const [path, body] of [
    [PAGE, { email }],
    [`${PAGE}/${token}`, { new_password: password }],
  ] as const) {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers,
      body: new URLSearchParams(body),
    });
    expect(response.status).toBe(403);
  }
  expect(await loginStatus(api, email, old)).toBe(200);
  expect(await mailsTo(service, email, 1)).toHaveLength(1);
});

test('these pages are not cached, framed or revealed to other sites', async () => {
  const { email } = await newDeveloper(api);
  const { headers } = await browser.open(`${PAGE}/${await newResetToken(service, email)}`);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('requests count together with those to the API', async () => {
  const limited = await startTestService({ RATE_LIMIT: '3/60' });
  const page = new Browser(limited.baseUrl);
  const form = await page.open(PAGE);
  const request = () => page.send(form, { email: `${unique('ada')}@example.com` });
  const statuses = [(await request()).status, (await request()).status];
  const { status } = await limited.api.post('/api/v2/dev/password-resets', { email: 'ada@example.com' });
  const refused = await request();
  expect([...statuses, status, refused.status]).toEqual([200, 200, 202, 429]);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(refused.html).toContain('Please wait a moment');
});

test.each(['PUT', 'DELETE'])('%s is not allowed', async (method) => {
  const { status, headers } = await fetch(baseUrl + PAGE, { method });
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
});
