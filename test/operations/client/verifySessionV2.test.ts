import { describe, expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { newApp, newHwid, newNonce, newSession, newUser, signed, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { encryptedSession, inDays } from '../support/journeys.ts';
import { boundSignatureOf, signatureOf } from '../../support/response-signature.ts';

const service = await startTestService();
const { api, clock } = service;

const sign = (app: App, body: object) => signed(app, body, { at: clock.now() });

test('responds like v1, for every form of handle', async () => {
  const app = await newApp(api);
  const [license_key] = (await app.keys(1, 'Pro', 30)) as [string];
  const user = await newUser(api, app, { license_key } as object);
  const signedToken = (await api.login(app.with(user))).body;
  const { app_id } = app;
  for (const token of [signedToken.token, signedToken.session_id]) {
    const { status, body } = await api.verifyV2({ app_id, token });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      valid: true,
      user_id: signedToken.user!.id,
      username: user.username,
      expiry: inDays(clock, 1),
      subscription_tier: 'Pro',
      subscription_status: 'active',
      subscription_expires_at: inDays(clock, 30),
    });
    expect(body).toEqual((await api.verify({ app_id, token })).body);
  }
  const encrypted = await encryptedSession(service, app, user);
  for (const token of [encrypted.token, encrypted.session_id]) {
    const { body } = await api.verifyV2({ app_id, token, hwid: user.hwid });
    expect(body).toEqual((await api.verify({ app_id, token, hwid: user.hwid })).body);
  }
});

describe('the signature of the response', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  const request = { app_id: app.app_id, token };

  test('is present if a nonce was sent, over that nonce', async () => {
    for (const nonce of [newNonce(), 'ünïcödé 🦊', 'a nonce with "quotes"']) {
      const sent = { ...request, nonce };
      const unsigned = await api.verifyV2(sent);
      const bound = { operation: 'verifySessionV2', body: JSON.stringify(sent) };
      expect(unsigned.body.signature).toBe(boundSignatureOf(app, bound, nonce, unsigned.body));
      const { body } = await api.verifyV2(...sign(app, { ...request, nonce }));
      expect(body.signature).toBe(signatureOf(app, nonce, body));
      expect(signatureOf(app, nonce, { ...body, valid: false })).not.toBe(body.signature);
    }
  });

  test('is absent without a nonce: it would be valid for every request', async () => {
    expect((await api.verifyV2(request)).body).not.toHaveProperty('signature');
    expect((await api.verifyV2(...sign(app, request))).body).not.toHaveProperty('signature');
  });
});

describe('refuses what v1 refuses', () => {
  test('SESSION_INVALID is the same for everything that is not a live session of this application', async () => {
    const [app, other] = [await newApp(api), await newApp(api)];
    const { token } = await newSession(api, app);
    const responses = [
      await api.verifyV2({ app_id: other.app_id, token }),
      await api.verifyV2({ app_id: 'app_unknown', token }),
      await api.verifyV2({ app_id: app.app_id, token: `${token}x` }),
      await api.verifyV2({ app_id: app.app_id, token: 'x'.repeat(22) }),
      await api.verifyV2({ app_id: app.app_id, token: app.token }),
      await api.verifyV2(...sign(other, { app_id: other.app_id, token })),
      await api.verifyV2({ app_id: other.app_id, token, nonce: newNonce() }),
    ];
    for (const response of responses) {
      expectError(response, 401, 'SESSION_INVALID');
      expect(comparable(response)).toEqual(comparable(responses[0]!));
    }
  });

  test('SESSION_EXPIRED after 24 hours', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    clock.advance(DAY - 1);
    expect((await api.verifyV2({ app_id: app.app_id, token })).status).toBe(200);
    clock.advance(1);
    const nonce = newNonce();
    for (const request of [
      { app_id: app.app_id, token },
      { app_id: app.app_id, token, nonce },
    ]) {
      expectError(await api.verifyV2(request), 401, 'SESSION_EXPIRED');
    }
  });

  test('HWID_MISMATCH if the lock is on', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    const request = { app_id: app.app_id, token, hwid: newHwid() };
    expectError(await api.verifyV2(request), 403, 'HWID_MISMATCH');
    expectError(await api.verifyV2(...sign(app, request)), 403, 'HWID_MISMATCH');
    await app.patch({ hwid_lock: false });
    expect((await api.verifyV2(request)).status).toBe(200);
  });

  test('APPLICATION_PAUSED and APPLICATION_INACTIVE', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    const request = { app_id: app.app_id, token };
    await app.patch({ paused: true });
    expect((await api.verifyV2({ ...request, nonce: newNonce() })).status).toBe(200);
    await app.patch({ pause_sessions: true });
    expectError(await api.verifyV2(request), 403, 'APPLICATION_PAUSED');
    await app.patch({ status: 'disabled' });
    expectError(await api.verifyV2(request), 401, 'APPLICATION_INACTIVE');
    expectError(await api.verifyV2({ ...request, nonce: newNonce() }), 401, 'APPLICATION_INACTIVE');
    expectError(await api.verifyV2(...sign(app, request)), 401, 'APPLICATION_INACTIVE');
  });

  test('SUBSCRIPTION_EXPIRED if a subscription is required', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    await app.patch({ require_subscription: true });
    expectError(await api.verifyV2({ app_id: app.app_id, token }), 403, 'SUBSCRIPTION_EXPIRED');
  });
});

test('a nonce of a signed request is spent by any result', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  const nonce = newNonce();
  const invalid = sign(app, { app_id: app.app_id, token: 'x', nonce });
  expectError(await api.verifyV2(...invalid), 401, 'SESSION_INVALID');
  expectError(await api.verifyV2(...invalid), 401, 'NONCE_REUSED');
  expectError(await api.verifyV2(...sign(app, { app_id: app.app_id, token, nonce })), 401, 'NONCE_REUSED');
});

test('SIGNATURE_REQUIRED does not reveal whether a session exists', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  await app.patch({ require_signatures: true });
  expectError(await api.verifyV2({ app_id: app.app_id, token }), 401, 'SIGNATURE_REQUIRED');
  expect((await api.verifyV2(...sign(app, { app_id: app.app_id, token }))).status).toBe(200);
  // The operation of v1 does not support signatures, so it is refused.
  expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SIGNATURE_REQUIRED');
});

test('VALIDATION_FAILED lists every fault', async () => {
  const send = (body: object) => api.post('/api/v2/client/verify-session', body);
  expectFaults(await send({}), '/app_id', '/token');
  expectFaults(
    await send({ app_id: {}, token: '', hwid: '', nonce: 'a nonce\u0007' }),
    '/app_id',
    '/token',
    '/hwid',
    '/nonce',
  );
});
