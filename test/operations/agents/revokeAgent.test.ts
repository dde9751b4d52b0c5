import { describe, expect, test } from 'vitest';
import { DAY, SECOND, TestClock } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { newProviderKey, startIdentityProvider, trusting } from '../../support/identity-provider.ts';
import { startTestService } from '../../support/service.ts';
import {
  claim,
  codeOf,
  isAlive,
  newEmail,
  pageFor,
  register,
  registerGrant,
  revokeCredential,
  sendEvent,
} from '../support/agents.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const time: { clock: TestClock } = { clock: new TestClock() };
const provider = await startIdentityProvider({ now: () => time.clock.now() });
const stranger = await startIdentityProvider({ now: () => time.clock.now() });
const service = await startTestService(trusting(provider.issuer, stranger.issuer));
const { api, baseUrl, clock } = service;
time.clock = clock;

let count = 0;

/** A subject of the provider with an agent. */
async function subjectWithAgent(more: object = {}) {
  count += 1;
  const [sub, email] = [`subject-${count}`, newEmail()];
  const grant = (claims: object = {}) => provider.grant(baseUrl, { claims: { sub, email, ...claims } });
  const { body } = await registerGrant(api, await grant(), more);
  return { sub, email, grant, credential: body.credential, agentId: body.registration_id };
}

const now = () => Math.floor(clock.now().getTime() / 1000);

describe('by the agent itself', () => {
  test.each(['bearer_token', 'jwt'])('a %s, and no other credential of the agent', async (type) => {
    const { credential, grant } = await subjectWithAgent({ requested_credential_type: type });
    const { body: second } = await registerGrant(api, await grant());
    const { status, body } = await revokeCredential(api, credential);
    expect([status, body]).toEqual([200, { status: 'success', message: 'The credential is revoked.' }]);
    expect(await isAlive(api, credential)).toBe(false);
    expect(await isAlive(api, second.credential)).toBe(true);
    expect((await revokeCredential(api, credential)).status).toBe(200);
  });

  test('an unclaimed key', async () => {
    const { body } = await register(api, { type: 'anonymous' });
    await revokeCredential(api, body.credential);
    expect(await isAlive(api, body.credential)).toBe(false);
  });

  test('a token of the sandbox, which no claim brings back', async () => {
    const { body } = await register(api, { type: 'anonymous', requested_credential_type: 'sandbox_token' });
    await revokeCredential(api, body.credential);
    expect(await isAlive(api, body.credential)).toBe(false);
    const response = await claim(api, { claim_token: body.credential, email: newEmail() });
    expectError(response, 401, 'INVALID_CLAIM_TOKEN');
    expect(await isAlive(api, body.credential)).toBe(false);
  });

  test('an unknown credential gets the same response', async () => {
    for (const credential of ['lka_unknown', 'x', 'a.b.c', (await newDeveloper(api)).token]) {
      expect((await revokeCredential(api, credential)).status).toBe(200);
    }
    expectFaults(await api.post('/api/v1/agent/revoke', {}), '/credential');
    expectFaults(await api.call('POST', '/api/v1/agent/revoke'), '');
  });

  test('a token of a developer is not revoked', async () => {
    const { token } = await newDeveloper(api);
    await revokeCredential(api, token);
    expect((await api.call('GET', '/api/v2/dev/me', undefined, { token })).status).toBe(200);
  });
});

describe('by the issuer', () => {
  test.each([
    ['secevent+jwt', 202, 'https://schemas.workos.com/events/agent/auth/identity/assertion/revoked'],
    ['logout+jwt', 200, 'https://schemas.workos.com/events/agent/auth/identity/assertion/revoked'],
    ['secevent+jwt', 202, `${baseUrl}/schemas/events/agent-revoked`],
  ] as const)('%s: all agents of the subject, and no others', async (typ, status, event) => {
    const { sub, email, grant, credential } = await subjectWithAgent();
    const { body: second } = await registerGrant(api, await grant({ client_id: 'other' }), {
      requested_credential_type: 'jwt',
    });
    const other = await subjectWithAgent();
    const token = await provider.event(baseUrl, typ, { claims: { sub, events: { [event]: {} } } });
    const response = await sendEvent(api, token, typ);
    expect(response.status).toBe(status);
    expect(await isAlive(api, credential)).toBe(false);
    expect(await isAlive(api, second.credential)).toBe(false);
    expect(await isAlive(api, other.credential)).toBe(true);
    // The issuer cannot restore it: its owner has to agree again.
    const next = await registerGrant(api, await grant());
    expectError(next, 401, 'INTERACTION_REQUIRED');
    const { claim_token } = next.body;
    await claim(api, { claim_token });
    const { body } = await claim(api, { claim_token, otp: await codeOf(api, await pageFor(service, email)) });
    expect(await isAlive(api, body.credential)).toBe(true);
    // A repeated request has no effect.
    expect((await sendEvent(api, token, typ)).status).toBe(status);
    expect(await isAlive(api, body.credential)).toBe(true);
  });

  test('by sub_id', async () => {
    const { sub, credential } = await subjectWithAgent();
    const sub_id = { format: 'iss_sub', iss: provider.issuer, sub };
    const token = await provider.event(baseUrl, 'secevent+jwt', { claims: { sub_id } });
    expect((await sendEvent(api, token, 'secevent+jwt')).status).toBe(202);
    expect(await isAlive(api, credential)).toBe(false);
  });

  test('not the subject of another issuer', async () => {
    const { sub, credential } = await subjectWithAgent();
    const token = await stranger.event(baseUrl, 'secevent+jwt', { claims: { sub } });
    expect((await sendEvent(api, token, 'secevent+jwt')).status).toBe(202);
    expect(await isAlive(api, credential)).toBe(true);
  });

  const subject = { sub: 'unknown' };
  test.each<[string, string, () => Promise<string>]>([
    ['an issuer that is not trusted', 'invalid_issuer', () => event({ iss: 'https://evil.example' })],
    ['another audience', 'invalid_audience', () => event({ aud: 'https://other.example' })],
    ['no event', 'invalid_request', () => event({ events: {} })],
    ['another event', 'invalid_request', () => event({ events: { 'https://schemas.example/x': {} } })],
    ['events that are a text', 'invalid_request', () => event({ events: 'x' })],
    ['no jti', 'invalid_request', () => event({ jti: undefined })],
    ['no subject', 'invalid_request', () => event({ sub: undefined })],
    ['a sub_id of another format', 'invalid_request', () => event({ sub_id: { format: 'opaque', id: 'x' } })],
    [
      'a sub_id that is not its sub',
      'invalid_request',
      () => event({ sub_id: { format: 'iss_sub', iss: provider.issuer, sub: 'x' } }),
    ],
    [
      'a sub_id of another issuer',
      'invalid_request',
      () => event({ sub: undefined, sub_id: { format: 'iss_sub', iss: stranger.issuer, sub: 'x' } }),
    ],
    ['an age of a day', 'invalid_request', () => event({ iat: now() - 86_461 })],
    ['a time in the future', 'invalid_request', () => event({ iat: now() + 90 })],
    ['the typ of another token', 'invalid_request', () => event({}, { header: { typ: 'oauth-id-jag+jwt' } })],
    [
      'the typ of a logout token',
      'invalid_request',
      () => provider.event(baseUrl, 'logout+jwt', { claims: subject }),
    ],
    ['a key that is unknown', 'invalid_key', async () => event({}, { key: await newProviderKey() })],
    [
      'a signature of another',
      'authentication_failed',
      async () => event({}, { key: await newProviderKey(), header: { kid: provider.key().keyId } }),
    ],
    ['nothing', 'invalid_request', async () => 'x'],
  ])('%s is refused', async (_what, err, token) => {
    const response = await sendEvent(api, await token(), 'secevent+jwt');
    expectError(response, 400, 'INVALID_SECURITY_EVENT');
    expect(response.body).toMatchObject({ err, description: response.body.detail });
  });

  function event(claims: Record<string, unknown>, more: object = {}): Promise<string> {
    return provider.event(baseUrl, 'secevent+jwt', { claims: { ...subject, ...claims }, ...more });
  }

  test('a logout token has no nonce', async () => {
    const token = await provider.event(baseUrl, 'logout+jwt', { claims: { ...subject, nonce: 'n' } });
    expectError(await sendEvent(api, token, 'logout+jwt'), 400, 'INVALID_SECURITY_EVENT');
  });

  test('an issuer that cannot be reached is 503', async () => {
    clock.advance(DAY);
    provider.keySet.status = 500;
    expectError(await sendEvent(api, await event({}), 'secevent+jwt'), 503, 'SERVICE_UNAVAILABLE');
    provider.keySet.status = 200;
    clock.advance(5 * SECOND);
  });
});
