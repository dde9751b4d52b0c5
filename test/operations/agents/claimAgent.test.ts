import { describe, expect, test } from 'vitest';
import { DAY, SECOND, TestClock } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newDeveloper, newHwid } from '../../support/fixtures.ts';
import { startIdentityProvider, trusting } from '../../support/identity-provider.ts';
import { startTestService } from '../../support/service.ts';
import {
  claim,
  codeOf,
  developerOf,
  isAlive,
  mailsTo,
  newEmail,
  pageFor,
  POST_CLAIM,
  register,
  registerEmail,
  registerGrant,
  submit,
  wrong,
} from '../support/agents.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const time: { clock: TestClock } = { clock: new TestClock() };
const provider = await startIdentityProvider({ now: () => time.clock.now() });
const service = await startTestService(trusting(provider.issuer));
const { api, baseUrl, clock } = service;
time.clock = clock;

const get = async (path: string) => {
  const response = await fetch(baseUrl + path, { redirect: 'manual' });
  return { status: response.status, headers: response.headers, html: await response.text() };
};

/** A registration by email whose page has been opened. */
async function begun(email = newEmail(), more: object = {}, mails = 1) {
  const { body } = await registerEmail(api, email, more);
  return {
    email,
    agentId: body.registration_id,
    claim_token: body.claim_token,
    page: await pageFor(service, email, mails),
  };
}

describe('an agent that has registered by email', () => {
  test('gets its credential with the code, for an account that is opened', async () => {
    const { email, agentId, claim_token, page } = await begun(undefined, {
      requested_credential_type: 'jwt',
    });
    const otp = await codeOf(api, page);
    const { status, body } = await claim(api, { claim_token, otp: `${otp.slice(0, 3)} ${otp.slice(3)}` });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'claimed',
      registration_id: agentId,
      scopes: POST_CLAIM,
      credential_type: 'jwt',
      credential: expect.any(String),
      credential_expires: expect.any(String),
    });
    const { body: me } = await api.call('GET', '/api/v2/dev/me', undefined, { token: body.credential });
    expect(me).toMatchObject({ email });
    // The same person, another agent: access to the mailbox is enough without a password.
    const second = await begun(email, {}, 2);
    const again = await claim(api, {
      claim_token: second.claim_token,
      otp: await codeOf(api, second.page),
      requested_credential_type: 'bearer_token',
    });
    expect(again.body.credential_type).toBe('bearer_token');
    expect(await developerOf(api, again.body.credential)).toBe(await developerOf(api, body.credential));
  });

  test('can begin with the claim, and need not send the address again', async () => {
    const email = newEmail();
    const first = await claim(api, { email, requested_credential_type: 'bearer_token', name: 'Bot' });
    expect(first.body).toEqual({
      status: 'initiated',
      registration_id: expect.stringMatching(/^agt_/),
      claim_attempt_id: expect.stringMatching(/^cla_/),
      expires_at: new Date(clock.now().getTime() + DAY).toISOString(),
      claim_url: `${baseUrl}/api/v1/agent/claim`,
      claim_token: expect.stringMatching(/^clm_/),
      claim_token_expires: expect.any(String),
      post_claim_scopes: POST_CLAIM,
    });
    const { claim_token } = first.body;
    for (const body of [
      { claim_token },
      { claim_token, email },
      { claim_token, email: email.toUpperCase() },
    ]) {
      const { body: next } = await claim(api, body);
      expect(next).toEqual({
        status: 'initiated',
        registration_id: first.body.registration_id,
        claim_attempt_id: first.body.claim_attempt_id,
        expires_at: first.body.expires_at,
      });
    }
    expectFaults(await claim(api, { claim_token, email: newEmail() }), '/email');
    await mailsTo(service, email, 1);
  });

  test('can request another mail after a minute, five in all, and only the last link is valid', async () => {
    const { email, claim_token, page } = await begun();
    const pages = [page];
    for (let sent = 2; sent <= 5; sent += 1) {
      clock.advance(60 * SECOND);
      expect((await claim(api, { claim_token })).status).toBe(200);
      pages.push(await pageFor(service, email, sent));
      expect((await get(pages.at(-2)!)).status).toBe(404);
    }
    expect(new Set(pages).size).toBe(5);
    clock.advance(60 * SECOND);
    expectError(await claim(api, { claim_token }), 429, 'TOO_MANY_REQUESTS');
    expect((await claim(api, { claim_token, otp: await codeOf(api, pages.at(-1)!) })).status).toBe(200);
  });
});

describe('an anonymous agent', () => {
  test('keeps its key, which may do more and belongs to a developer', async () => {
    const { email, password, developerId } = await newDeveloper(api);
    const { body: agent } = await register(api, { type: 'anonymous', name: 'Bot' });
    const { claim_token, registration_id } = agent;
    expectFaults(await claim(api, { claim_token }), '/email');
    expectFaults(await claim(api, { claim_token, email: 'mi\u212ae@example.com' }), '/email');
    const started = await claim(api, { claim_token, email });
    expect(started.body).toMatchObject({ status: 'initiated', registration_id });
    const otp = await codeOf(api, await pageFor(service, email), password);
    const { body } = await claim(api, { claim_token, otp });
    expect(body).toEqual({ status: 'claimed', registration_id, scopes: POST_CLAIM });
    expect(await developerOf(api, agent.credential)).toBe(developerId);
    const { body: token } = await api.call('GET', '/api/v1/agent/token', undefined, {
      token: agent.credential,
    });
    expect(token).toMatchObject({ claimed: true, scope: POST_CLAIM.join(' ') });
  });

  test('gets another credential in addition if it names one', async () => {
    const { body: agent } = await register(api, { type: 'anonymous' });
    const email = newEmail();
    await claim(api, { claim_token: agent.claim_token, email });
    const otp = await codeOf(api, await pageFor(service, email));
    expectError(
      await claim(api, { claim_token: agent.claim_token, otp, requested_credential_type: 'ephemeral_key' }),
      400,
      'UNSUPPORTED_CREDENTIAL_TYPE',
    );
    const { body } = await claim(api, {
      claim_token: agent.claim_token,
      otp,
      requested_credential_type: 'jwt',
    });
    expect(body.credential_type).toBe('jwt');
    expect(await developerOf(api, body.credential)).toBe(await developerOf(api, agent.credential));
  });

  test('can name another address: a confirmation by the first one is not valid', async () => {
    const { body: agent } = await register(api, { type: 'anonymous' });
    const { claim_token } = agent;
    const [mine, hers] = [newEmail(), newEmail()];
    await claim(api, { claim_token, email: mine });
    const page = await pageFor(service, mine);
    const otp = await codeOf(api, page);
    await claim(api, { claim_token, email: hers });
    expectError(await claim(api, { claim_token, otp }), 410, 'OTP_EXPIRED');
    expect((await get(page)).status).toBe(404);
    expect((await submit(api, page)).status).toBe(404);
    expect(
      (await claim(api, { claim_token, otp: await codeOf(api, await pageFor(service, hers)) })).status,
    ).toBe(200);
  });
});

describe('a session of the sandbox', () => {
  test('is a claim token, and then a credential', async () => {
    const hwid = newHwid();
    const sandbox = { app_id: 'sandbox', username: 'agent', hwid };
    const { body: session } = await api.sandbox(sandbox);
    expect(session).toMatchObject({
      scopes: ['auth:client'],
      claim_url: `${baseUrl}/api/v1/agent/claim`,
      post_claim_scopes: POST_CLAIM,
    });
    expect(await isAlive(api, session.token)).toBe(false);
    const email = newEmail();
    const responses = await Promise.all(
      [1, 2, 3].map(() => claim(api, { claim_token: session.token, email })),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(responses.map(({ body }) => body.registration_id)).size).toBe(1);
    const otp = await codeOf(api, await pageFor(service, email));
    const { body } = await claim(api, { claim_token: session.token, otp });
    expect(body).toEqual({
      status: 'claimed',
      registration_id: responses[0]!.body.registration_id,
      scopes: POST_CLAIM,
    });
    expect(await isAlive(api, session.token)).toBe(true);
    // The same request in the same second belongs to another session.
    const { body: other } = await api.sandbox(sandbox);
    expect(other.token).not.toBe(session.token);
    expect(await isAlive(api, other.token)).toBe(false);
    expect((await api.verifySandbox({ app_id: 'sandbox', token: session.token, hwid })).status).toBe(200);
  });

  test('that has ended cannot be claimed, but a claim of it continues', async () => {
    const { body: one } = await api.sandbox({ app_id: 'a', username: 'agent', hwid: newHwid() });
    const { body: two } = await api.sandbox({ app_id: 'a', username: 'agent', hwid: newHwid() });
    const email = newEmail();
    await claim(api, { claim_token: one.token, email });
    clock.advance(3600 * SECOND);
    expectError(await claim(api, { claim_token: two.token, email }), 401, 'INVALID_CLAIM_TOKEN');
    const otp = await codeOf(api, await pageFor(service, email));
    const { body } = await claim(api, { claim_token: one.token, otp });
    // It has no live credential.
    expect(body.credential_type).toBe('bearer_token');
    expect(await isAlive(api, body.credential)).toBe(true);
  });
});

describe('a code', () => {
  test('is no longer valid after five wrong attempts; another one is', async () => {
    const { claim_token, page } = await begun();
    const otp = await codeOf(api, page);
    for (let tried = 0; tried < 5; tried += 1) {
      const response = await claim(api, { claim_token, otp: wrong(otp) });
      expectError(response, 401, 'OTP_INVALID');
      expect(response.body.error).toBe('otp_invalid');
    }
    const late = await claim(api, { claim_token, otp });
    expectError(late, 410, 'OTP_EXPIRED');
    expect(late.body.error).toBe('otp_expired');
    expect((await claim(api, { claim_token, otp: await codeOf(api, page) })).status).toBe(200);
  });

  test('is valid for ten minutes, and only the last one', async () => {
    const { claim_token, page } = await begun();
    expectError(await claim(api, { claim_token, otp: '000000' }), 410, 'OTP_EXPIRED');
    const first = await codeOf(api, page);
    const second = await codeOf(api, page);
    if (first !== second) expectError(await claim(api, { claim_token, otp: first }), 401, 'OTP_INVALID');
    clock.advance(600 * SECOND);
    expectError(await claim(api, { claim_token, otp: second }), 410, 'OTP_EXPIRED');
  });

  test('of one claim is not valid for another', async () => {
    const [one, two] = [await begun(), await begun()];
    const otp = await codeOf(api, one.page);
    const others = await codeOf(api, two.page);
    if (otp !== others) {
      expectError(await claim(api, { claim_token: two.claim_token, otp }), 401, 'OTP_INVALID');
    }
  });
});

describe('a claim', () => {
  test('is completed once', async () => {
    const { claim_token, page } = await begun();
    const otp = await codeOf(api, page);
    expect((await claim(api, { claim_token, otp })).status).toBe(200);
    const again = await claim(api, { claim_token, otp });
    expectError(again, 409, 'ALREADY_CLAIMED');
    expect(again.body.error).toBe('previously_claimed');
    const start = await claim(api, { claim_token });
    expectError(start, 409, 'ALREADY_CLAIMED');
    expect(start.body.error).toBe('claimed_or_in_flight');
    expect((await get(page)).html).toContain('This agent acts for you');
    expect(await (await submit(api, page)).text()).not.toMatch(/class="code"/);
  });

  test('ends after 24 hours', async () => {
    const { claim_token, page } = await begun();
    clock.advance(DAY - SECOND);
    const otp = await codeOf(api, page);
    clock.advance(SECOND);
    expectError(await claim(api, { claim_token, otp }), 410, 'CLAIM_EXPIRED');
    expectError(await claim(api, { claim_token }), 410, 'CLAIM_EXPIRED');
    expect((await get(page)).status).toBe(410);
  });

  test('that was refused on the page is not valid', async () => {
    const { claim_token, page } = await begun();
    const otp = await codeOf(api, page);
    const refused = await submit(api, `${page}/reject`);
    expect([refused.status, refused.headers.get('location')]).toEqual([303, page]);
    expect((await get(page)).html).toContain('You have refused this agent');
    expectError(await claim(api, { claim_token, otp }), 401, 'INVALID_CLAIM_TOKEN');
    expectError(await claim(api, { claim_token }), 401, 'INVALID_CLAIM_TOKEN');
  });

  test('requires an existing token', async () => {
    const unknown = await claim(api, { claim_token: 'clm_unknown', email: newEmail() });
    expectError(unknown, 401, 'INVALID_CLAIM_TOKEN');
    expect(unknown.body.error).toBe('invalid_claim_token');
    expectError(await claim(api, { claim_token: 'clm_unknown', otp: '123456' }), 401, 'INVALID_CLAIM_TOKEN');
    expectFaults(await claim(api, {}), '');
    expectFaults(await claim(api, { name: 'Bot' }), '/claim_token');
    expectFaults(
      await claim(api, { claim_token: 'clm_unknown', requested_credential_type: 'api_key' }),
      '/requested_credential_type',
    );
    expectFaults(await claim(api, { otp: '123456', email: newEmail() }), '/claim_token');
  });
});

describe('the audit log', () => {
  const entriesAbout = async (agentId: string) => {
    const db = await connectTo(service.databaseUrl);
    const { rows } = await db.query<{ action: string }>(
      'select developer_id, actor_kind, actor_id, action, data from audit_log where target = $1 order by audit_id',
      [agentId],
    );
    return rows;
  };

  test('contains each claim that begins, with the address used', async () => {
    const known = await newDeveloper(api);
    for (const [email, developerId] of [
      [newEmail(), 'administrator'],
      [known.email, known.developerId],
    ] as const) {
      const { agentId, claim_token } = await begun(email);
      // A second request within a minute has no effect.
      await claim(api, { claim_token });
      clock.advance(60 * SECOND);
      await claim(api, { claim_token });
      const begins = {
        developer_id: developerId,
        actor_kind: 'agent',
        actor_id: agentId,
        action: 'agent.claim_begun',
        data: { registration_type: 'email-verification', issuer: null },
      };
      expect((await entriesAbout(agentId)).slice(1), developerId).toEqual([begins, begins]);
    }
  });

  test('has a claim that is begun for an anonymous agent', async () => {
    const { email, developerId } = await newDeveloper(api);
    const { body } = await register(api, { type: 'anonymous' });
    await claim(api, { claim_token: body.claim_token, email });
    expect((await entriesAbout(body.registration_id)).at(-1)).toMatchObject({
      developer_id: developerId,
      actor_id: body.registration_id,
      action: 'agent.claim_begun',
      data: { registration_type: 'anonymous' },
    });
  });

  test('has the delegation that its person has agreed to', async () => {
    const { email, password, developerId } = await newDeveloper(api);
    const assertion = await provider.grant(baseUrl, { claims: { sub: 'delegated', email } });
    const { claim_token } = (await registerGrant(api, assertion)).body;
    await claim(api, { claim_token });
    const otp = await codeOf(api, await pageFor(service, email), password);
    const { body: claimed } = await claim(api, { claim_token, otp });
    const entries = await entriesAbout(claimed.registration_id);
    expect(entries.map(({ action }) => action)).toEqual([
      'agent.registered',
      'agent.claim_begun',
      'agent.claim_confirmed',
      'agent.delegation_granted',
      'agent.claimed',
    ]);
    expect(entries[3]).toEqual({
      developer_id: developerId,
      actor_kind: 'agent',
      actor_id: claimed.registration_id,
      action: 'agent.delegation_granted',
      data: { issuer: provider.issuer, subject: 'delegated' },
    });
  });
});

describe('an account with a password', () => {
  test('is confirmed only with the password', async () => {
    const { email, password, developerId } = await newDeveloper(api);
    const { claim_token, page } = await begun(email);
    expect((await get(page)).html).toContain('type="password"');
    for (const typed of [{}, { password: '' }, { password: 'another password' }] as Record<
      string,
      string
    >[]) {
      const denied = await submit(api, page, typed);
      expect(denied.status).toBe(422);
      expect(await denied.text()).toContain('The name or the password is wrong.');
    }
    expectError(await claim(api, { claim_token, otp: '000000' }), 410, 'OTP_EXPIRED');
    const { body } = await claim(api, { claim_token, otp: await codeOf(api, page, password) });
    expect(await developerOf(api, body.credential)).toBe(developerId);
  });

  test('that is opened after the code was shown is not transferred', async () => {
    const { email, claim_token, page } = await begun();
    const otp = await codeOf(api, page);
    const password = 'a stranger password';
    expect((await api.post('/api/v2/dev/register', { email, password })).status).toBe(201);
    expectError(await claim(api, { claim_token, otp }), 410, 'OTP_EXPIRED');
    expect((await submit(api, page)).status).toBe(422);
    const { body } = await claim(api, { claim_token, otp: await codeOf(api, page, password) });
    expect(body.status).toBe('claimed');
  });

  test('allows ten wrong passwords in a minute, like a login', async () => {
    const { email, password } = await newDeveloper(api);
    const { page } = await begun(email);
    for (let tried = 0; tried < 10; tried += 1) {
      expect((await submit(api, page, { password: 'wrong' })).status).toBe(422);
    }
    const blocked = await submit(api, page, { password });
    expect(blocked.status).toBe(429);
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(blocked.headers.get('content-type')).toContain('text/html');
  });
});

describe('an account without a password', () => {
  const password = 'a password of ada';
  const login = (email: string) => api.post<{ token: string }>('/api/v2/dev/login', { email, password });

  test('gets one on the page, with which its person signs in and ends the agent', async () => {
    const { email, claim_token, page, agentId } = await begun();
    const [, otp] = /class="code">(\d{6})</.exec(
      await (await submit(api, page, { new_password: password })).text(),
    )!;
    const { body } = await claim(api, { claim_token, otp });
    expect(body.status).toBe('claimed');
    const { token } = (await login(email)).body;
    expect(await developerOf(api, token)).toBe(await developerOf(api, body.credential));
    const ended = await api.call('DELETE', `/api/v2/dev/agents/${agentId}`, undefined, { token });
    expect(ended.status).toBe(200);
    expect(await isAlive(api, body.credential)).toBe(false);
    const { body: log } = await api.call('GET', '/api/v2/dev/audit-log', undefined, { token });
    expect(JSON.stringify(log)).toContain('developer.password_chosen');
    expect(JSON.stringify(log)).not.toContain(password);
  });

  test('that an issuer’s word has opened gets one, too, once', async () => {
    const email = newEmail();
    const { body: opened } = await registerGrant(api, await provider.grant(baseUrl, { claims: { email } }));
    const [one, other] = [await begun(email), await begun(email, {}, 2)];
    expect((await submit(api, one.page, { new_password: 'short' })).status).toBe(422);
    await submit(api, one.page, { new_password: password });
    // The page now requires this password: another one cannot be chosen.
    expect((await submit(api, other.page, { new_password: 'another password' })).status).toBe(422);
    expect(await developerOf(api, (await login(email)).body.token)).toBe(
      await developerOf(api, opened.credential),
    );
  });
});

describe('the page', () => {
  test('shows the agent and its request, and GET reveals nothing', async () => {
    const email = newEmail();
    const { page, claim_token } = await begun(email, { name: '<script>alert(1)</script>' });
    for (let opened = 0; opened < 3; opened += 1) {
      const { status, headers, html } = await get(page);
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(html).toContain(email);
      expect(html).not.toMatch(/<script|class="code"/);
    }
    expectError(await claim(api, { claim_token, otp: '000000' }), 410, 'OTP_EXPIRED');
  });

  test('names the issuer', async () => {
    const { email } = await newDeveloper(api);
    const { body } = await registerGrant(api, await provider.grant(baseUrl, { claims: { email } }));
    await claim(api, { claim_token: body.claim_token });
    expect((await get(await pageFor(service, email))).html).toContain(provider.issuer);
    const [mail] = await mailsTo(service, email);
    expect(mail!.text).toContain(new URL(provider.issuer).host);
  });

  test('refuses forms from other sites', async () => {
    const { page } = await begun();
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      for (const at of [page, `${page}/reject`]) {
        const response = await fetch(baseUrl + at, {
          method: 'POST',
          headers: headers as never,
          redirect: 'manual',
        });
        expect(response.status).toBe(403);
      }
    }
    expect((await get(page)).html).toContain('May this agent act for you?');
  });

  test('exists only for links that were mailed, and for GET and POST', async () => {
    const unknown = `/agent/claim/${'A'.repeat(43)}`;
    expect((await get(unknown)).status).toBe(404);
    expect((await submit(api, unknown)).status).toBe(404);
    expect((await submit(api, `${unknown}/reject`)).status).toBe(404);
    expect((await get('/agent/claim/short')).status).toBe(404);
    const put = await fetch(baseUrl + unknown, { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });
});
