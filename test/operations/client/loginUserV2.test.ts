import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { LEGACY_ERROR_JSON } from '../../../src/http/transport/problem.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import {
  newApp,
  newHwid,
  newNonce,
  newUser,
  signed,
  unique,
  type App,
  type Signing,
  type User,
} from '../../support/fixtures.ts';
import { flood } from '../../support/hashing.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { signatureOf } from '../../support/response-signature.ts';

const service = await startTestService({}, { hashing: 'each' });
const { api, baseUrl, clock, databaseUrl } = service;

const bodyOf = ({ app_id }: App, user: User, nonce = newNonce()) => ({
  app_id,
  username: user.username,
  password: user.password,
  hwid: user.hwid,
  nonce,
});

/** Logs in with a signed body, as an object or as bytes. */
const send = (app: App, body: object | string, signing: Partial<Signing> = {}) =>
  api.loginV2(...(signed(app, body, { at: clock.now(), ...signing }) as [string, Record<string, string>]));
const login = (app: App, user: User, nonce?: string) => send(app, bodyOf(app, user, nonce));

describe('responds', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);

  test('with an encrypted session of exactly 24 hours', async () => {
    const { status, body } = await login(app, user);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      token: expect.any(String),
      signature: expect.stringMatching(/^[0-9a-f]{64}$/),
      expires_at: inDays(clock, 1),
    });
    const parts = body.token.split('.');
    expect(parts).toHaveLength(5);
    expect(JSON.parse(Buffer.from(parts[0]!, 'base64url').toString())).toEqual({
      alg: 'dir',
      enc: 'A256GCM',
      cty: 'JWT',
      kid: expect.any(String),
    });
  });

  test('with a signature that the client can compute itself', async () => {
    for (const nonce of [newNonce(), 'with.a.dot', 'ünïcödé 🦊', '"quoted\\"', ' 8 chars']) {
      const { status, body } = await login(app, user, nonce);
      expect(status, nonce).toBe(200);
      expect(body.signature, nonce).toBe(signatureOf(app, nonce, body));
    }
  });

  test('with a signature of this nonce and this response, under this secret', async () => {
    const other = await newApp(api);
    const nonce = newNonce();
    const { body } = await login(app, user, nonce);
    expect(body.signature).not.toBe(signatureOf(app, newNonce(), body));
    expect(body.signature).not.toBe(signatureOf(other, nonce, body));
    for (const altered of [
      { ...body, token: `${body.token}x` },
      { ...body, expires_at: inDays(clock, 2) },
      { ...body, more: true },
    ]) {
      expect(body.signature).not.toBe(signatureOf(app, nonce, altered));
    }
  });

  test('with a token that verify and logout of both versions accept', async () => {
    const { body } = await login(app, user);
    const { app_id } = app;
    expect((await api.verify({ app_id, token: body.token, hwid: user.hwid })).body).toMatchObject({
      valid: true,
      username: user.username,
      expiry: body.expires_at,
    });
    expect((await api.verifyV2({ app_id, token: body.token })).status).toBe(200);
    expect((await api.logout({ app_id, token: body.token })).status).toBe(200);
    expectError(await api.verifyV2({ app_id, token: body.token }), 401, 'SESSION_INVALID');
    const second = await login(app, user);
    expect((await api.logoutV2({ app_id, session_token: second.body.token })).status).toBe(200);
  });

  test('with a session that replaces one of v1 on the machine, and vice versa', async () => {
    const first = await api.login(app.with(user));
    const second = await login(app, user);
    const verify = (token: string) => api.verify({ app_id: app.app_id, token });
    expectError(await verify(first.body.token), 401, 'SESSION_INVALID');
    await api.login(app.with(user));
    expectError(await verify(second.body.token), 401, 'SESSION_INVALID');
  });
});

describe('the signature', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const sign = (text: string, secret = app.secret) => createHmac('sha256', secret).update(text).digest('hex');

  test('is accepted in upper case', async () => {
    const body = JSON.stringify(bodyOf(app, user));
    expect((await send(app, body, { signature: sign(body).toUpperCase() })).status).toBe(200);
  });

  test('covers the bytes as they are sent', async () => {
    const body = bodyOf(app, user);
    const { nonce, ...rest } = body;
    const written = [
      JSON.stringify(body, null, 2),
      `${JSON.stringify(body)}\n`,
      ` ${JSON.stringify(body)}`,
      JSON.stringify({ nonce, ...rest }),
      JSON.stringify(body).replace(user.hwid[0]!, `\\u00${user.hwid.charCodeAt(0).toString(16)}`),
      JSON.stringify(body).replace('"password"', '"p\\u0061ssword"'),
      JSON.stringify({ ...body, more: 'ignored' }),
      JSON.stringify(body).replaceAll(':', ' :'),
    ];
    const signature = sign(JSON.stringify(body));
    for (const text of written) {
      // The same request in other bytes, which were not signed.
      expectError(await send(app, text, { signature }), 401, 'INVALID_APP_CREDENTIALS');
    }
    for (const text of written) {
      const own = text.replace(nonce, newNonce());
      expect((await send(app, own)).status, own).toBe(200);
    }
  });

  test('of text that is not ASCII covers its UTF-8', async () => {
    const other = await newApp(api);
    const named = await newUser(api, other, { username: 'Ünïcode-🦊', password: 'pässwörd 🦊🦊' });
    expect((await login(other, named)).status).toBe(200);
    const latin1 = createHmac('sha256', other.secret);
    const text = JSON.stringify(bodyOf(other, named));
    const signature = latin1.update(Buffer.from(text, 'latin1')).digest('hex');
    expectError(await send(other, text, { signature }), 401, 'INVALID_APP_CREDENTIALS');
  });

  test('that is wrong returns the same 401 as an absent application', async () => {
    const text = JSON.stringify(bodyOf(app, user));
    const other = await newApp(api);
    const signature = sign(text);
    const flipped = (signature[0] === '0' ? '1' : '0') + signature.slice(1);
    const absent = { ...app, app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c' };
    const wrong = [
      await send(app, text, { signature: flipped }),
      await send(app, text, { signature: sign(text, other.secret) }),
      await send(app, text, { signature: sign(text, '') }),
      await send(app, text, { signature: '' }),
      await send(app, text, { signature: signature.slice(0, 62) }),
      await send(app, text, { signature: `sha256=${signature}` }),
      await send(app, text, { signature: 'nonsense' }),
      await send(app, text, { signature: '0'.repeat(64) }),
      await send(app, text, { signature: Buffer.from(signature, 'hex').toString('base64') }),
      await send(app, text, { signature: createHmac('sha512', app.secret).update(text).digest('hex') }),
      await send(app, text, { signature: sign(`${text}${clock.now().getTime()}`) }),
      await send(absent, bodyOf(absent, user)),
      await send(other, bodyOf(app, user)),
    ];
    for (const response of wrong) {
      expectError(response, 401, 'INVALID_APP_CREDENTIALS');
      expect(comparable(response)).toEqual(comparable(wrong[0]!));
    }
    // None of them has spent the nonce.
    expect((await send(app, text)).status).toBe(200);
  });

  test.each(['x-signature', 'x-timestamp'])('SIGNATURE_REQUIRED without %s', async (name) => {
    const [text, headers] = signed(app, bodyOf(app, user), { at: clock.now() });
    const { [name]: _left, ...rest } = headers;
    expectError(await api.loginV2(text, rest), 401, 'SIGNATURE_REQUIRED');
    expectError(await api.loginV2(text), 401, 'SIGNATURE_REQUIRED');
    // The same for an absent application.
    expectError(await api.loginV2(bodyOf({ ...app, app_id: 'app_x' }, user)), 401, 'SIGNATURE_REQUIRED');
    expect((await api.loginV2(text, headers)).status).toBe(200);
  });

  test.each([
    ['x-signature', 'another one'],
    ['x-signature', 'the same'],
    ['x-timestamp', 'another one'],
    ['x-timestamp', 'the same'],
  ])('sent twice is refused: %s and %s', async (name, value) => {
    const [text, headers] = signed(app, bodyOf(app, user), { at: clock.now() });
    const second = value === 'the same' ? headers[name]! : '1'.repeat(headers[name]!.length);
    for (const values of [
      [headers[name]!, second],
      [second, headers[name]!],
    ]) {
      const others = Object.entries(headers).filter(([other]) => other !== name);
      const response = await fetch(`${baseUrl}/api/v2/client/login`, {
        method: 'POST',
        headers: [
          ['content-type', 'application/json'],
          ...(others as [string, string][]),
          ...values.map((each) => [name, each] as [string, string]),
        ],
        body: text,
      });
      expect([400, 401]).toContain(response.status);
    }
    expect((await api.loginV2(text, headers)).status).toBe(200);
  });

  test('a secret in the body is ignored', async () => {
    const body = { ...bodyOf(app, user), secret: app.secret };
    expectError(await api.loginV2(body), 401, 'SIGNATURE_REQUIRED');
    expectError(await send(app, body, { signature: '0'.repeat(64) }), 401, 'INVALID_APP_CREDENTIALS');
  });
});

describe('x-timestamp', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const off = (milliseconds: number) => ({ timestamp: String(clock.now().getTime() + milliseconds) });

  test.each([0, 300_000, -300_000, 1, -1])('may be %d ms off', async (milliseconds) => {
    expect((await send(app, bodyOf(app, user), off(milliseconds))).status).toBe(200);
  });

  test.each([300_001, -300_001, 86_400_000, -1e12])(
    'TIMESTAMP_OUT_OF_RANGE when it is %d ms off, in both models with the current time',
    async (milliseconds) => {
      const [text, headers] = signed(app, bodyOf(app, user), { at: clock.now(), ...off(milliseconds) });
      const server_time = clock.now().toISOString();
      const response = await api.loginV2(text, headers);
      expectError(response, 401, 'TIMESTAMP_OUT_OF_RANGE');
      expect(response.body).toMatchObject({ server_time });
      const legacy = await api.loginV2(text, { ...headers, accept: LEGACY_ERROR_JSON });
      expect(legacy.status).toBe(401);
      expect(legacy.body).toMatchObject({
        status: 'fail',
        error: 'TIMESTAMP_OUT_OF_RANGE',
        code: 401,
        server_time,
      });
    },
  );

  test('moves with the clock of the service', async () => {
    const request = signed(app, bodyOf(app, user), { at: clock.now() });
    clock.advance(300_001);
    expectError(await api.loginV2(...request), 401, 'TIMESTAMP_OUT_OF_RANGE');
  });

  test.each([
    '',
    'now',
    '1e12',
    '-1',
    '0',
    '1795257814',
    'NaN',
    '0x1a1fe',
    '1'.repeat(16),
    '1795257814000.5',
  ])('TIMESTAMP_OUT_OF_RANGE for %j, or a refusal of it', async (timestamp) => {
    const response = await send(app, bodyOf(app, user), { timestamp });
    expectError(response, 401, 'TIMESTAMP_OUT_OF_RANGE');
    const present = await send(app, bodyOf(app, user), { timestamp: clock.now().toISOString() });
    expectError(present, 401, 'TIMESTAMP_OUT_OF_RANGE');
  });

  test('is checked after the signature: a client that cannot sign learns nothing', async () => {
    const response = await send(app, bodyOf(app, user), { signature: '0'.repeat(64), ...off(DAY) });
    expectError(response, 401, 'INVALID_APP_CREDENTIALS');
    expect(response.body).not.toHaveProperty('server_time');
  });
});

describe('nonce', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);

  test.each([8, 128])('may have %d characters', async (length) => {
    expect((await login(app, user, 'n'.repeat(length - 1) + '1')).status).toBe(200);
    expect((await login(app, user, '🦊'.repeat(length))).status).toBe(200);
  });

  test.each(['', 'n'.repeat(7), 'n'.repeat(129), '🦊'.repeat(7), 'a nonce\u0000', 'a\nnonce\n'])(
    'VALIDATION_FAILED for %j',
    async (nonce) => {
      expectFaults(await login(app, user, nonce), '/nonce');
    },
  );

  test('NONCE_REUSED for the same request, and for another one with the same nonce', async () => {
    const nonce = newNonce();
    const request = signed(app, bodyOf(app, user, nonce), { at: clock.now() });
    const { status, body } = await api.loginV2(...request);
    expect(status).toBe(200);
    expectError(await api.loginV2(...request), 401, 'NONCE_REUSED');
    expectError(await login(app, await newUser(api, app), nonce), 401, 'NONCE_REUSED');
    // A replay has neither ended nor created a session.
    expect((await api.verify({ app_id: app.app_id, token: body.token })).status).toBe(200);
  });

  test('works once with concurrent requests', async () => {
    const request = signed(app, bodyOf(app, user), { at: clock.now() });
    const responses = await Promise.all(Array.from({ length: 12 }, () => api.loginV2(...request)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const response of responses) if (response.status !== 200) expectError(response, 401, 'NONCE_REUSED');
  });

  test('is spent by any result of the login, but not by an earlier refusal', async () => {
    const nonce = newNonce();
    const body = bodyOf(app, user, nonce);
    await send(app, body, { signature: '0'.repeat(64) });
    await send(app, body, { timestamp: '1' });
    expectFaults(await send(app, { ...body, hwid: undefined }), '/hwid');
    expectError(await send(app, { ...body, password: 'wrong' }), 401, 'INVALID_CREDENTIALS');
    expectError(await send(app, body), 401, 'NONCE_REUSED');
  });

  test('is of one application', async () => {
    const other = await newApp(api);
    const nonce = newNonce();
    expect((await login(app, user, nonce)).status).toBe(200);
    expect((await login(other, await newUser(api, other), nonce)).status).toBe(200);
  });

  test('is compared byte by byte', async () => {
    const nonce = newNonce().replace(/^./, 'a');
    expect((await login(app, user, nonce)).status).toBe(200);
    for (const other of [`${nonce} `, `A${nonce.slice(1)}`, `\u0430${nonce.slice(1)}`]) {
      expect((await login(app, user, other)).status, other).toBe(200);
    }
  });

  test('can be reused after 30 days, to the millisecond, even before housekeeping', async () => {
    const own = await newApp(api);
    const [cleared, kept] = [newNonce(), newNonce()];
    const owner = await newUser(api, own);
    await login(own, owner, cleared);
    await login(own, owner, kept);
    clock.advance(30 * DAY - 1);
    await service.services.signatures.clearExpired();
    expectError(await login(own, owner, kept), 401, 'NONCE_REUSED');
    clock.advance(1);
    expect((await login(own, owner, kept)).status).toBe(200);
    expect(await service.services.signatures.clearExpired()).toBeGreaterThanOrEqual(1);
    expect((await login(own, owner, cleared)).status).toBe(200);
    // A reused nonce is stored again.
    expectError(await login(own, owner, kept), 401, 'NONCE_REUSED');
    const database = await connectTo(databaseUrl);
    const { rows } = await database.query<{ row: string }>('select n::text as row from nonces n');
    expect(JSON.stringify(rows)).not.toContain(kept);
  });

  test('can be reused after NONCE_DAYS', async () => {
    const short = await startTestService({ DATABASE_URL: databaseUrl, NONCE_DAYS: '1' });
    const at = () => ({ at: short.clock.now() });
    const body = bodyOf(app, user);
    expect((await short.api.loginV2(...signed(app, body, at()))).status).toBe(200);
    short.clock.advance(DAY - 1);
    expectError(await short.api.loginV2(...signed(app, body, at())), 401, 'NONCE_REUSED');
    short.clock.advance(1);
    expect((await short.api.loginV2(...signed(app, body, at()))).status).toBe(200);
  });
});

describe('refusals come in this order', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const raw = (text: string, headers: Record<string, string> = {}) =>
    api.post('/api/v2/client/login', text, { headers });

  test('the media type and the JSON before the signature', async () => {
    expectError(await raw('{'), 400, 'MALFORMED_JSON');
    expectError(await raw('{"app_id":"a","app_id":"b"}'), 400, 'MALFORMED_JSON');
    expectError(await raw('{}', { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  test('the signature and the time before the members', async () => {
    const body = { app_id: app.app_id, username: 7 };
    expectError(await raw(JSON.stringify(body)), 401, 'SIGNATURE_REQUIRED');
    expectError(await send(app, body, { signature: '0'.repeat(64) }), 401, 'INVALID_APP_CREDENTIALS');
    expectError(await send(app, body, { timestamp: '1' }), 401, 'TIMESTAMP_OUT_OF_RANGE');
    expectFaults(await send(app, body), '/username', '/password', '/hwid', '/nonce');
  });

  test('an impossible app_id is a fault of the body: no client could have signed it', async () => {
    const members = ['/username', '/password', '/hwid', '/nonce'];
    const headers = ['header/x-signature', 'header/x-timestamp'];
    for (const app_id of [undefined, 7, null, {}]) {
      expectFaults(await raw(JSON.stringify({ app_id })), '/app_id', ...members, ...headers);
      expectFaults(await send(app, { app_id }), '/app_id', ...members);
    }
    for (const body of ['', '[]', 'null', '"text"']) {
      expect((await raw(body)).body).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    }
  });

  test.each([
    ['NUL', '\u0000'],
    ['NUL within', 'a\u0000b'],
    ['33 characters of two UTF-16 units', '🦊'.repeat(33)],
    ['64 characters of two UTF-16 units', '🦊'.repeat(64)],
  ])('an app_id that no application can have is refused: %s', async (_what, app_id) => {
    const { status } = await send(app, { ...bodyOf(app, user), app_id });
    expect([400, 401]).toContain(status);
  });

  test('disabled and paused applications before anything about the user', async () => {
    const own = await newApp(api);
    const owner = await newUser(api, own);
    await own.patch({ status: 'disabled' });
    expectError(await login(own, owner), 401, 'APPLICATION_INACTIVE');
    await own.patch({ status: 'paused' });
    expectError(await login(own, { ...owner, password: 'wrong' }), 403, 'APPLICATION_PAUSED');
    expectError(await login(own, owner), 403, 'APPLICATION_PAUSED');
    await own.patch({ status: 'active' });
    expect((await login(own, owner)).status).toBe(200);
  });
});

describe('refuses the users that the v1 login refuses', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);

  test('INVALID_CREDENTIALS is the same for an unknown user and a wrong password', async () => {
    const wrong = await login(app, { ...user, password: 'wrong' });
    expectError(wrong, 401, 'INVALID_CREDENTIALS');
    const unknown = await login(app, { ...user, username: 'unknown' });
    expect(comparable(unknown)).toEqual(comparable(wrong));
  });

  test('HWID_MISMATCH only after the right password', async () => {
    const elsewhere = { ...user, hwid: newHwid() };
    expectError(await login(app, { ...elsewhere, password: 'wrong' }), 401, 'INVALID_CREDENTIALS');
    expectError(await login(app, elsewhere), 403, 'HWID_MISMATCH');
  });

  test('SUBSCRIPTION_EXPIRED if a subscription is required', async () => {
    const own = await newApp(api);
    const [license_key] = (await own.keys(1, 'Pro', 1)) as [string];
    await own.patch({ require_subscription: true });
    const owner = await newUser(api, own);
    expectError(await login(own, owner), 403, 'SUBSCRIPTION_EXPIRED');
    await api.activate(own.with({ username: owner.username, license_key }));
    expect((await login(own, owner)).status).toBe(200);
    clock.advance(DAY);
    expectError(await login(own, owner), 403, 'SUBSCRIPTION_EXPIRED');
  });

  test('TOO_MANY_REQUESTS when too many passwords are waiting', async () => {
    const { atOnce, later } = await flood(9, () => login(app, { ...user, username: unique('user') }));
    for (const response of later) expectError(response, 401, 'INVALID_CREDENTIALS');
    for (const response of atOnce) expectError(response, 429, 'TOO_MANY_REQUESTS');
  });

  test('a user with only a license key has no password', async () => {
    const own = await newApp(api);
    const [license_key] = (await own.keys(1)) as [string];
    const hwid = newHwid();
    const { body } = await api.loginWithLicense({ app_id: own.app_id, license_key, hwid });
    const { username } = (await api.verify({ app_id: own.app_id, token: body.token })).body;
    for (const password of ['', 'null', 'undefined', username!, license_key]) {
      const response = await login(own, { username: username!, password, hwid });
      if (password === '') expectFaults(response, '/password');
      else expectError(response, 401, 'INVALID_CREDENTIALS');
    }
  });
});

test('the session is valid as long as one of v1', async () => {
  const app = await newApp(api);
  const { body } = await login(app, await newUser(api, app));
  const verify = () => api.verify({ app_id: app.app_id, token: body.token });
  clock.advance(DAY - SECOND);
  expect((await verify()).status).toBe(200);
  clock.advance(SECOND);
  expectError(await verify(), 401, 'SESSION_EXPIRED');
});

test('is not counted as deprecated', async () => {
  const app = await newApp(api);
  const { headers } = await login(app, await newUser(api, app));
  expect(['deprecation', 'sunset', 'link'].filter((name) => headers.has(name))).toEqual([]);
});
