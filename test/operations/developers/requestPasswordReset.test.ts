import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { newDeveloper, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { mailsTo, submit } from '../support/agents.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { completeReset, loginStatus, newResetToken, requestReset } from '../support/passwords.ts';

const service = await startTestService();
const { api, baseUrl, clock } = service;

test('mails a link to the page, and the password does not change', async () => {
  const { email, password } = await newDeveloper(api);
  const { status, body } = await requestReset(api, email);
  expect({ status, body }).toEqual({
    status: 202,
    body: { status: 'success', message: 'The email is on its way.' },
  });
  const [mail] = await mailsTo(service, email, 1);
  const [link] = /^http\S+$/m.exec(mail!.text!)!;
  expect(link.replace(/[\w-]{43}$/, 'token')).toBe(`${baseUrl}/account/password/token`);
  expect(mail!.subject).toContain(new URL(baseUrl).host);
  expect(await loginStatus(api, email, password)).toBe(200);
});

test('an address is compared without regard to case', async () => {
  const { email } = await newDeveloper(api);
  expect((await requestReset(api, email.toUpperCase())).status).toBe(202);
  const [mail] = await mailsTo(service, email, 1);
  expect(mail!.text).toContain('/account/password/');
});

test('the link is mailed to the exact address of the account, not to its lower case', async () => {
  const email = `${unique('mike')}@example.com`;
  await api.post('/api/v2/dev/register', { email, password: 'a developer password' });
  const lookalike = email.replace('k', '\u212a');
  expect(lookalike.toLowerCase()).toBe(email);
  expect((await submit(api, '/account/password', { email: lookalike })).status).toBe(200);
  const [mail] = await mailsTo(service, email, 1);
  expect(mail!.to![0]!.address).toBe(email);
  expect(mail!.text).toContain('/account/password/');
});

test('without an account the response is the same, and the mail says so', async () => {
  const email = `${unique('unknown')}@example.com`;
  const known = await requestReset(api, (await newDeveloper(api)).email);
  const unknown = await requestReset(api, email);
  expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
  const [mail] = await mailsTo(service, email, 1);
  expect(mail!.text).toContain('There is no account with this email address');
  expect(mail!.text).not.toContain('/account/password/');
});

test('one mailbox gets five mails an hour, and five by plus addresses, from any client in any spelling', async () => {
  const { email } = await newDeveloper(api);
  const [local, domain] = email.split('@') as [string, string];
  // Requests for addresses without an account do not use up the links of an account.
  for (const each of [1, 2, 3, 4, 5]) {
    expect((await requestReset(api, `${local}+${each}@${domain}`)).status).toBe(202);
  }
  expectError(await requestReset(api, `${local}+6@${domain}`), 429, 'TOO_MANY_REQUESTS');
  for (const each of [email, email.toUpperCase(), email, email, email]) {
    expect((await requestReset(api, each)).status).toBe(202);
  }
  const refused = await requestReset(api, email);
  expectError(refused, 429, 'TOO_MANY_REQUESTS');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  // Other requests do not wait for it.
  expect((await requestReset(api, (await newDeveloper(api)).email)).status).toBe(202);
});

test('several links work at the same time, for an hour, and all end once one was used', async () => {
  const { email } = await newDeveloper(api);
  const first = await newResetToken(service, email);
  clock.advance(59 * 60 * SECOND);
  const second = await newResetToken(service, email);
  clock.advance(60 * SECOND);
  expectError(
    await completeReset(api, { token: first, password: 'another password' }),
    401,
    'INVALID_RESET_TOKEN',
  );
  const third = await newResetToken(service, email);
  expect((await completeReset(api, { token: second, password: 'another password' })).status).toBe(200);
  expectError(
    await completeReset(api, { token: third, password: 'a third password' }),
    401,
    'INVALID_RESET_TOKEN',
  );
});

test.each([
  '',
  'no address',
  'a@b@c',
  'x@[127.0.0.1]',
  `${'x'.repeat(250)}@example.com`,
  'a\r\nb@example.com',
])('VALIDATION_FAILED for %j', async (email) => {
  expectFaults(await requestReset(api, email), '/email');
});
