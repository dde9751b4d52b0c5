import { createHmac, createPublicKey, generateKeyPairSync, hash, sign } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { DAY, SECOND } from '../../support/clock.ts';
import { TestClock } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { newProviderKey, startIdentityProvider, trusting } from '../../support/identity-provider.ts';
import { temporaryFolder } from '../../support/processes.ts';
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
} from '../support/agents.ts';
import { expectError, expectFaults } from '../support/errors.ts';

// The provider starts before the service that trusts it, and uses its clock.
const time: { clock: TestClock } = { clock: new TestClock() };
const provider = await startIdentityProvider({ now: () => time.clock.now() });
// Both nodes share one mail folder.
const settings = { ...trusting(provider.issuer), DATA_DIR: await temporaryFolder(afterAll) };
const service = await startTestService(settings);
const { api, baseUrl, clock, databaseUrl, services } = service;
time.clock = clock;

const grant = (claims: Record<string, unknown> = {}) => provider.grant(baseUrl, { claims });

async function refused(assertion: string, error: string) {
  const response = await registerGrant(api, assertion);
  expectError(response, 401, 'INVALID_ASSERTION');
  expect(response.body.error).toBe(error);
  expect(response.headers.get('www-authenticate')).toContain('resource_metadata=');
  return response;
}

describe('an anonymous agent', () => {
  test('gets a key with few scopes, and a claim token', async () => {
    const { status, body } = await register(api, { type: 'anonymous' });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      registration_id: expect.stringMatching(/^agt_/),
      registration_type: 'anonymous',
      credential_type: 'ephemeral_key',
      credential: expect.stringMatching(/^lke_[\w-]{43}$/),
      credential_expires: new Date(clock.now().getTime() + DAY).toISOString(),
      scopes: ['auth:client', 'agent:execute'],
      claim_url: `${baseUrl}/api/v1/agent/claim`,
      claim_token: expect.stringMatching(/^clm_[\w-]{43}$/),
      claim_token_expires: new Date(clock.now().getTime() + DAY).toISOString(),
      post_claim_scopes: POST_CLAIM,
    });
    const { body: token } = await api.call('GET', '/api/v1/agent/token', undefined, {
      token: body.credential,
    });
    expect(token).toMatchObject({ reference: body.registration_id, claimed: false });
    // It has no owner.
    expectError(
      await api.call('GET', '/api/v2/dev/me', undefined, { token: body.credential }),
      403,
      'INSUFFICIENT_SCOPE',
    );
  });

  test('may have a token of the sandbox', async () => {
    const { body } = await register(api, { type: 'anonymous', requested_credential_type: 'sandbox_token' });
    expect(body).toMatchObject({ credential_type: 'sandbox_token', scopes: ['auth:client'] });
    const verified = await api.verifySandbox({ app_id: 'sandbox', token: body.credential });
    expect(verified.status).toBe(200);
    const { status } = await api.call('GET', '/api/v1/agent/token', undefined, { token: body.credential });
    expect(status).toBe(403);
    clock.advance(3600 * SECOND);
    expect(await isAlive(api, body.credential)).toBe(false);
  });

  test('keys expire after 24 hours', async () => {
    const { body } = await register(api, { type: 'anonymous' });
    clock.advance(DAY - SECOND);
    expect(await isAlive(api, body.credential)).toBe(true);
    clock.advance(SECOND);
    expect(await isAlive(api, body.credential)).toBe(false);
  });

  test.each(['bearer_token', 'jwt'])('gets no %s', async (type) => {
    const response = await register(api, { type: 'anonymous', requested_credential_type: type });
    expectError(response, 400, 'UNSUPPORTED_CREDENTIAL_TYPE');
    expect(response.body.error).toBe('unsupported_credential_type');
  });

  test.each(['api_key', '', 'JWT'])('cannot request %j, which is not a type of credential', async (type) => {
    const response = await register(api, { type: 'anonymous', requested_credential_type: type });
    expectFaults(response, '/requested_credential_type');
  });
});

describe('an agent that names an email address', () => {
  test('gets only a claim, and its person a mail', async () => {
    const email = newEmail();
    const { status, body } = await registerEmail(api, email, {
      name: 'Evil <b>bot</b>, http://evil.example',
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      registration_id: expect.stringMatching(/^agt_/),
      registration_type: 'email-verification',
      claim_url: `${baseUrl}/api/v1/agent/claim`,
      claim_token: expect.stringMatching(/^clm_/),
      claim_token_expires: expect.any(String),
      post_claim_scopes: POST_CLAIM,
    });
    const [mail] = await mailsTo(service, email);
    expect(mail!.text).toContain(`${baseUrl}/agent/claim/`);
    // The mail does not quote the agent's text.
    expect(`${mail!.subject}${mail!.text}`).not.toMatch(/evil/i);
  });

  test.each([
    'no address',
    'a@b c.example',
    'mi\u212ae@example.com',
    'a@example.com\r\nBcc: b@example.com',
    '',
  ])('which must be one: %j', async (assertion) =>
    expectFaults(await registerEmail(api, assertion), '/assertion'),
  );

  test('has its request refused before the mail is sent', async () => {
    const email = newEmail();
    const response = await registerEmail(api, email, { requested_credential_type: 'ephemeral_key' });
    expectError(response, 400, 'UNSUPPORTED_CREDENTIAL_TYPE');
    expect((await service.mailbox()).filter(({ to }) => to?.[0]?.address === email)).toEqual([]);
  });

  test('cannot flood a mailbox: ten mails to one address within an hour', async () => {
    const email = newEmail();
    for (let sent = 0; sent < 10; sent += 1) expect((await registerEmail(api, email)).status).toBe(200);
    const response = await registerEmail(api, email.toUpperCase());
    expectError(response, 429, 'TOO_MANY_REQUESTS');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(3000);
    // Addresses of the same mailbox.
    const [local, domain] = email.split('@') as [string, string];
    expectError(await registerEmail(api, `${local}+other@${domain}`), 429, 'TOO_MANY_REQUESTS');
    expectFaults(await registerEmail(api, `${local}@exam\u00adple.com`), '/assertion');
    expect((await registerEmail(api, newEmail())).status).toBe(200);
  });
});

test('what an assertion needs', async () => {
  expectFaults(await register(api, { type: 'identity_assertion' }), '/assertion_type');
  expectFaults(
    await register(api, { type: 'identity_assertion', assertion_type: 'verified_email' }),
    '/assertion',
  );
});

describe('an ID-JAG', () => {
  test('opens an account without a password, and admits the agent', async () => {
    const email = newEmail();
    const { status, body } = await registerGrant(api, await grant({ sub: 'opens', email }), { name: 'Bot' });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      registration_id: expect.stringMatching(/^agt_/),
      registration_type: 'agent-provider',
      credential_type: 'bearer_token',
      credential: expect.stringMatching(/^lka_[\w-]{43}$/),
      credential_expires: new Date(clock.now().getTime() + 90 * DAY).toISOString(),
      scopes: POST_CLAIM,
    });
    const { body: me } = await api.call('GET', '/api/v2/dev/me', undefined, { token: body.credential });
    expect(me).toMatchObject({ email });
    expectError(
      await api.post('/api/v2/dev/login', { email, password: 'a developer password' }),
      401,
      'INVALID_CREDENTIALS',
    );
    expectError(
      await api.post('/api/v2/dev/register', { email, password: 'a developer password' }),
      409,
      'EMAIL_TAKEN',
    );
    const database = await connectTo(databaseUrl);
    const { rows } = await database.query(
      'select has_password, email_verified_at, password_hash from developers where email = $1',
      [email],
    );
    expect(rows).toEqual([
      {
        has_password: false,
        email_verified_at: null,
        password_hash: expect.stringMatching(
          /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
        ),
      },
    ]);
  });

  test('of the same subject is the same agent and the same developer, even if its address has changed', async () => {
    const first = await registerGrant(api, await grant({ sub: 'again', email: newEmail() }));
    const second = await registerGrant(api, await grant({ sub: 'again', email: newEmail() }));
    const third = await registerGrant(
      api,
      await grant({ sub: 'again', email: undefined, client_id: 'other' }),
    );
    expect(second.body.registration_id).toBe(first.body.registration_id);
    expect(third.body.registration_id).not.toBe(first.body.registration_id);
    const ids = await Promise.all(
      [first, second, third].map(({ body }) => developerOf(api, body.credential)),
    );
    expect(new Set(ids).size).toBe(1);
    // Each time it gets another credential, which its developer can see.
    const db = await connectTo(databaseUrl);
    const { rows } = await db.query(`select action from audit_log where target = $1 order by audit_id`, [
      first.body.registration_id,
    ]);
    expect(rows).toEqual([
      { action: 'agent.registered' },
      { action: 'agent.delegation_granted' },
      { action: 'agent.let_in' },
    ]);
  });

  test('has at most 25 live credentials of a kind: one more ends the oldest', async () => {
    const next = async (sub: string, requested_credential_type: string) => {
      clock.advance(SECOND);
      const { body } = await registerGrant(api, await grant({ sub }), { requested_credential_type });
      return body.credential;
    };
    const others = [await next('greedy', 'jwt'), await next('modest', 'bearer_token')];
    const kept: string[] = [];
    for (let each = 0; each < 25; each += 1) kept.push(await next('greedy', 'bearer_token'));
    const areAlive = (credentials: readonly string[]) =>
      Promise.all(credentials.map((credential) => isAlive(api, credential)));
    expect(await areAlive([...others, ...kept])).toEqual(Array(27).fill(true));
    const more = [await next('greedy', 'bearer_token'), await next('greedy', 'bearer_token')];
    expect(await areAlive(kept.splice(0, 2))).toEqual([false, false]);
    expect(await areAlive([...others, ...kept, ...more])).toEqual(Array(27).fill(true));
  });

  test('has no more of them with concurrent requests to two nodes', async () => {
    const other = await startTestService({ ...settings, DATABASE_URL: databaseUrl, BASE_URL: baseUrl });
    other.clock.advance(clock.now().getTime() - other.clock.now().getTime());
    const assertions = await Promise.all(Array.from({ length: 40 }, () => grant({ sub: 'everywhere' })));
    const given = await Promise.all(
      assertions.map((assertion, index) => registerGrant(index % 2 ? api : other.api, assertion)),
    );
    expect(given.map(({ status }) => status)).toEqual(Array(40).fill(200));
    const alive = await Promise.all(given.map(({ body }) => isAlive(api, body.credential)));
    expect(alive.filter(Boolean)).toHaveLength(25);
  });

  test('gets a JWT that is valid for an hour', async () => {
    const { body } = await registerGrant(api, await grant(), { requested_credential_type: 'jwt' });
    expect(body.credential.split('.')).toHaveLength(3);
    expect(await isAlive(api, body.credential)).toBe(true);
    clock.advance(3600 * SECOND);
    expect(await isAlive(api, body.credential)).toBe(false);
  });

  test('has the supported scopes that it names', async () => {
    const { body } = await registerGrant(api, await grant({ scope: 'openid read auth:dev' }));
    expect(body.scopes).toEqual(['read']);
    await refused(await grant({ scope: 'openid auth:dev' }), 'invalid_request');
    await refused(await grant({ scope: ['read'] }), 'invalid_request');
  });

  test('works once', async () => {
    const assertion = await grant();
    expect((await registerGrant(api, assertion)).status).toBe(200);
    await refused(assertion, 'replay_detected');
    clock.advance(360 * SECOND);
    await refused(assertion, 'expired');
  });

  test('is used up even if its subject must agree', async () => {
    const { email } = await newDeveloper(api);
    const assertion = await grant({ email });
    expectError(await registerGrant(api, assertion), 401, 'INTERACTION_REQUIRED');
    await refused(assertion, 'replay_detected');
  });

  test('requires an address that its issuer has verified', async () => {
    for (const claims of [
      { email: undefined },
      { email_verified: undefined },
      { email_verified: false },
      { email_verified: 'true' },
      { email: 'no address' },
      { email: 'mi\u212ae@example.com' },
      { email: '\u0130da@example.com' },
      { email: 'ada@fa\u00df.de' },
      { email: 'ada@localhost' },
      { email: 1 },
    ]) {
      await refused(await grant(claims), 'missing_verified_email');
    }
  });

  const at = (seconds: number) => Math.floor(clock.now().getTime() / 1000) + seconds;

  test.each<[string, string, () => Record<string, unknown>]>([
    ['another issuer', 'invalid_issuer', () => ({ iss: 'https://evil.example' })],
    ['the issuer with a slash', 'invalid_issuer', () => ({ iss: `${provider.issuer}/` })],
    ['no issuer', 'invalid_issuer', () => ({ iss: undefined })],
    ['another audience', 'invalid_audience', () => ({ aud: 'https://other.example' })],
    ['the audience with a slash', 'invalid_audience', () => ({ aud: `${baseUrl}/` })],
    ['two audiences', 'invalid_audience', () => ({ aud: [baseUrl, 'https://other.example'] })],
    ['no audience', 'invalid_audience', () => ({ aud: undefined })],
    ['no client', 'invalid_client_id', () => ({ client_id: undefined })],
    ['a client that is a number', 'invalid_client_id', () => ({ client_id: 1 })],
    ['no subject', 'invalid_request', () => ({ sub: undefined })],
    ['a subject with a NUL', 'invalid_request', () => ({ sub: 'a\0b' })],
    ['no jti', 'invalid_request', () => ({ jti: undefined })],
    ['no exp', 'invalid_request', () => ({ exp: undefined })],
    ['no iat', 'invalid_request', () => ({ iat: undefined })],
    ['an exp of the past', 'expired', () => ({ iat: at(-400), exp: at(-61) })],
    ['an iat of the future', 'invalid_request', () => ({ iat: at(90), exp: at(200) })],
    ['an nbf of the future', 'invalid_request', () => ({ nbf: at(90) })],
    ['a life that is too long', 'invalid_request', () => ({ exp: at(3601) })],
  ])('with %s is refused', async (_what, error, claims) => {
    await refused(await grant(claims()), error);
  });

  test('may be a minute off, and have an array with only our audience', async () => {
    const early = await grant({ iat: at(60), aud: [baseUrl] });
    expect((await registerGrant(api, early)).status).toBe(200);
    const late = await grant({ iat: at(-300), exp: at(-59) });
    expect((await registerGrant(api, late)).status).toBe(200);
  });
});

describe('every mutation of an ID-JAG is refused', async () => {
  const good = await grant();
  const [head, payload, signature] = good.split('.') as [string, string, string];
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = { alg: 'ES256', typ: 'oauth-id-jag+jwt', kid: provider.key().keyId };
  const foreign = await newProviderKey();
  const hmac = (key: string | Buffer) => {
    const signed = `${encode({ ...header, alg: 'HS256' })}.${payload}`;
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  };
  const publicKey = createPublicKey({ key: provider.key().publicJwk as never, format: 'jwk' });
  const pem = publicKey.export({ format: 'pem', type: 'spki' });

  test.each<[string, string | Promise<string>]>([
    ['alg none', `${encode({ ...header, alg: 'none' })}.${payload}.`],
    ['alg none with a signature', `${encode({ ...header, alg: 'none' })}.${payload}.${signature}`],
    ['HS256 with the public key as PEM', hmac(pem)],
    ['HS256 with the public key as JWK', hmac(JSON.stringify(provider.key().publicJwk))],
    ['a foreign key under its own id', provider.grant(baseUrl, { key: foreign })],
    [
      'a foreign key under a known id',
      provider.grant(baseUrl, { key: foreign, header: { kid: header.kid } }),
    ],
    [
      'a foreign key that it brings along',
      provider.grant(baseUrl, { key: foreign, header: { jwk: foreign.publicJwk } }),
    ],
    [
      'a foreign key by its address',
      provider.grant(baseUrl, { key: foreign, header: { jku: 'http://127.0.0.1:9/keys' } }),
    ],
    ['no kid', provider.grant(baseUrl, { header: { kid: undefined } })],
    ['an unknown crit', `${encode({ ...header, crit: ['x'], x: 1 })}.${payload}.${signature}`],
    ['another typ', provider.grant(baseUrl, { header: { typ: 'JWT' } })],
    ['the typ of an access token', provider.grant(baseUrl, { header: { typ: 'at+jwt' } })],
    ['no typ', provider.grant(baseUrl, { header: { typ: undefined } })],
    ['the typ of an event', provider.event(baseUrl, 'secevent+jwt')],
    ['a signature that is cut short', good.slice(0, -1)],
    ['no signature', `${head}.${payload}.`],
    ['no third part', `${head}.${payload}`],
    ['a fourth part', `${good}.x`],
    ['padding', `${good}=`],
    ['a space after it', `${good} `],
    ['a payload that is no JSON', `${head}.${Buffer.from('{').toString('base64url')}.${signature}`],
    ['no JWT', 'x'],
  ])('%s', async (_what, assertion) => {
    const response = await registerGrant(api, await assertion);
    expectError(response, 401, 'INVALID_ASSERTION');
  });

  test('one flipped bit, anywhere', async () => {
    for (let index = 0; index < good.length; index += 7) {
      if (good[index] === '.') continue;
      const flipped = String.fromCharCode(good.charCodeAt(index) ^ 1);
      if (!/[\w-]/.test(flipped)) continue;
      const response = await registerGrant(api, good.slice(0, index) + flipped + good.slice(index + 1));
      expectError(response, 401, 'INVALID_ASSERTION');
    }
  });

  test('and none of these uses it up', async () => {
    const fresh = await grant();
    await refused(`${fresh.slice(0, -4)}AAAA`, 'invalid_signature');
    expect((await registerGrant(api, fresh)).status).toBe(200);
  });
});

describe('an address that has an account', () => {
  test('requires the consent of its owner, with the password, before the issuer’s assertion', async () => {
    const { email, password, developerId } = await newDeveloper(api);
    const response = await registerGrant(api, await grant({ sub: 'ada', email: email.toUpperCase() }));
    expectError(response, 401, 'INTERACTION_REQUIRED');
    expect(response.body).toMatchObject({
      error: 'interaction_required',
      claim_url: `${baseUrl}/api/v1/agent/claim`,
      claim_token: expect.stringMatching(/^clm_/),
      claim_token_expires: new Date(clock.now().getTime() + DAY).toISOString(),
    });
    const claim_token = response.body.claim_token!;
    expect((await claim(api, { claim_token })).status).toBe(200);
    const code = await codeOf(api, await pageFor(service, email.toUpperCase()), password);
    const { body } = await claim(api, { claim_token, otp: code });
    expect(body).toMatchObject({ status: 'claimed', credential_type: 'bearer_token', scopes: POST_CLAIM });
    expect(await developerOf(api, body.credential)).toBe(developerId);
    // Now the issuer's assertion is enough.
    const next = await registerGrant(api, await grant({ sub: 'ada' }));
    expect(next.body.registration_id).toBe(body.registration_id);
    expect(await developerOf(api, next.body.credential)).toBe(developerId);
  });

  test('authorizes only one subject, not others', async () => {
    const { email } = await newDeveloper(api);
    expectError(
      await registerGrant(api, await grant({ sub: 'not ada', email })),
      401,
      'INTERACTION_REQUIRED',
    );
  });
});

describe('the keys of an issuer', () => {
  test('are fetched again for a key that is unknown, every 30 seconds at most', async () => {
    clock.advance(31 * SECOND);
    const before = provider.fetches();
    for (const alg of ['RS256', 'PS256', 'EdDSA']) {
      await provider.rotate(alg);
      clock.advance(31 * SECOND);
      expect((await registerGrant(api, await grant())).status, alg).toBe(200);
    }
    expect(provider.fetches()).toBe(before + 3);
    const foreign = await newProviderKey();
    for (let sent = 0; sent < 5; sent += 1) {
      const response = await registerGrant(api, await provider.grant(baseUrl, { key: foreign }));
      expectError(response, 401, 'INVALID_ASSERTION');
    }
    expect(provider.fetches()).toBe(before + 3);
    // A key that is no longer published is not accepted.
    const old = provider.key();
    await provider.rotate('ES256');
    clock.advance(31 * SECOND);
    expect((await registerGrant(api, await grant())).status).toBe(200);
    await refused(await provider.grant(baseUrl, { key: old }), 'invalid_signature');
  });

  test('are cached as their headers say, at least 10 minutes, and fetched once for concurrent requests', async () => {
    clock.advance(DAY);
    const before = provider.fetches();
    const many = await Promise.all(Array.from({ length: 10 }, async () => registerGrant(api, await grant())));
    expect(many.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(provider.fetches()).toBe(before + 1);
    clock.advance(599 * SECOND);
    await registerGrant(api, await grant());
    expect(provider.fetches()).toBe(before + 1);
    provider.keySet.cacheControl = 'public, max-age=7200';
    clock.advance(SECOND);
    await registerGrant(api, await grant());
    clock.advance(7199 * SECOND);
    await registerGrant(api, await grant());
    expect(provider.fetches()).toBe(before + 2);
    provider.keySet.cacheControl = undefined;
  });

  test.each([{ n: 'AQAB' }, { n: 5 }, { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }])(
    'that are not valid verify nothing: %j',
    async (broken) => {
      Object.assign((await provider.rotate('RS256')).publicJwk, broken);
      clock.advance(31 * SECOND);
      await refused(await grant(), 'invalid_signature');
      await provider.rotate();
      clock.advance(31 * SECOND);
      expect((await registerGrant(api, await grant())).status).toBe(200);
    },
  );

  test.each([
    ['an RSA key with the exponent 1', { e: 'AQ' }],
    ['an RSA key of 1,024 bits', { bits: 1024 }],
    ['an RSA key with the exponent 3', { e: 'Aw' }],
  ])(
    'that anyone could compute sign nothing: %s',
    async (_what, { e, bits = 2048 }: { e?: string; bits?: number }) => {
      const published = (await provider.rotate('RS256')).publicJwk;
      const { publicKey, privateKey } = generateKeyPairSync('rsa', {
        modulusLength: bits,
        publicExponent: e === 'Aw' ? 3 : 65_537,
      });
      const { n, e: exponent } = publicKey.export({ format: 'jwk' });
      Object.assign(published, { n, e: e ?? exponent });
      clock.advance(31 * SECOND);
      const [header, payload] = (await grant()).split('.') as [string, string];
      const input = Buffer.from(`${header}.${payload}`);
      // With the exponent 1 the padded digest is the signature, which needs no private key.
      const signature = e === 'AQ' ? paddedDigest(input, bits / 8) : sign('sha256', input, privateKey);
      await refused(`${header}.${payload}.${signature.toString('base64url')}`, 'invalid_signature');
      await provider.rotate();
      clock.advance(31 * SECOND);
    },
  );

  test('that cannot be fetched are 503, and the assertion works later', async () => {
    clock.advance(DAY);
    provider.keySet.status = 500;
    const assertion = await grant();
    const response = await registerGrant(api, assertion);
    expectError(response, 503, 'SERVICE_UNAVAILABLE');
    expect(response.headers.get('retry-after')).toBe('5');
    provider.keySet.status = 200;
    clock.advance(5 * SECOND);
    expect((await registerGrant(api, assertion)).status).toBe(200);
  });
});

describe('at the token endpoint', () => {
  const client = { address: '192.0.2.1' };
  const exchange = (assertion: string, clientId: string) =>
    services.agents.exchangeAssertion(assertion, clientId, client);

  test('an ID-JAG of the client yields an agent once, the same as a registration', async () => {
    const claims = { sub: 'exchanged', email: newEmail(), scope: 'read write' };
    const { body } = await registerGrant(api, await grant(claims));
    const assertion = await grant(claims);
    const exchanged = await exchange(assertion, 'assistant');
    expect(exchanged).toEqual({
      agentId: body.registration_id,
      developerId: await developerOf(api, body.credential),
      scopes: ['read', 'write'],
    });
    expect(await services.agents.isAlive(exchanged.agentId)).toBe(true);
    await expect(exchange(assertion, 'assistant')).rejects.toMatchObject({
      code: 'INVALID_ASSERTION',
      members: { error: 'replay_detected' },
    });
  });

  test('that of another client is refused and not used up', async () => {
    const assertion = await grant();
    await expect(exchange(assertion, 'thief')).rejects.toMatchObject({
      code: 'INVALID_ASSERTION',
      members: { error: 'invalid_client_id' },
    });
    expect((await exchange(assertion, 'assistant')).scopes).toEqual(POST_CLAIM);
  });
});

test('no secret is stored in plain text', async () => {
  const email = newEmail();
  const anonymous = await register(api, { type: 'anonymous' });
  const mailed = await registerEmail(api, email);
  const asserted = await registerGrant(api, await grant(), { requested_credential_type: 'jwt' });
  const page = await pageFor(service, email);
  const code = await codeOf(api, page);
  const database = await connectTo(databaseUrl);
  const tables = [
    'agents',
    'agent_credentials',
    'agent_claims',
    'used_assertions',
    'access_tokens',
    'audit_log',
  ];
  const dump: string[] = [];
  for (const table of tables) {
    const { rows } = await database.query<{ t: string }>(`select t::text from ${table} t`);
    dump.push(...rows.map((row) => row.t));
  }
  const text = dump.join('\n');
  expect(text).toContain(mailed.body.registration_id);
  for (const secret of [
    anonymous.body.credential,
    anonymous.body.claim_token,
    mailed.body.claim_token,
    asserted.body.credential,
    page.split('/').at(-1)!,
    `,${code},`,
  ]) {
    expect(text).not.toContain(secret);
  }
});

describe('a service that trusts no issuer', async () => {
  const other = await startTestService();
  test('accepts no ID-JAG', async () => {
    const response = await registerGrant(other.api, await provider.grant(other.baseUrl));
    expectError(response, 401, 'INVALID_ASSERTION');
    expect(response.body.error).toBe('invalid_issuer');
  });
});

describe('an issuer that is trusted for some clients', async () => {
  const entry = { issuer: provider.issuer, client_ids: ['assistant'] };
  const other = await startTestService({
    ...trusting(provider.issuer),
    AGENT_ISSUERS: JSON.stringify([entry]),
  });
  test('is refused for other clients', async () => {
    const at = (client_id: string) =>
      provider
        .grant(other.baseUrl, {
          claims: { client_id, iat: nowOf(other.clock), exp: nowOf(other.clock) + 300 },
        })
        .then((assertion) => registerGrant(other.api, assertion));
    expect((await at('assistant')).status).toBe(200);
    expect((await at('stranger')).body.error).toBe('invalid_client_id');
  });
});

const nowOf = (of: TestClock) => Math.floor(of.now().getTime() / 1000);

/** The padded digest of an RS256 signature (EMSA-PKCS1-v1_5, RFC 8017, section 9.2). */
function paddedDigest(input: Buffer, length: number): Buffer {
  const prefix = Buffer.from('3031300d060960864801650304020105000420', 'hex');
  const digest = Buffer.concat([prefix, hash('sha256', input, 'buffer')]);
  const padding = Buffer.alloc(length - digest.length - 3, 0xff);
  return Buffer.concat([Buffer.from([0, 1]), padding, Buffer.from([0]), digest]);
}
