import { describe, expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { newApp, newNonce, newSession, newUser, signed, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { encryptedSession } from '../support/journeys.ts';
import { boundSignatureOf, signatureOf } from '../../support/response-signature.ts';

const service = await startTestService();
const { api, clock } = service;

const sign = (app: App, body: object) => signed(app, body, { at: clock.now() });

test.each(['session_token', 'token'] as const)(
  'ends the session of %s, under every handle',
  async (member) => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const begin = {
      v1: async () => (await api.login(app.with(user))).body,
      v2: () => encryptedSession(service, app, user),
    };
    for (const version of ['v1', 'v2'] as const) {
      for (const form of ['token', 'session_id'] as const) {
        const session = await begin[version]();
        const request = { app_id: app.app_id, [member]: session[form] };
        const { status, body } = await api.post('/api/v2/client/logout', request);
        expect(status, `${form} of ${version}`).toBe(200);
        expect(body).toEqual({ status: 'success', message: 'Session ended.' });
        for (const token of [session.token, session.session_id]) {
          expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
          expectError(
            await api.logoutV2({ app_id: app.app_id, session_token: token }),
            401,
            'SESSION_INVALID',
          );
          expectError(await api.logout({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
        }
      }
    }
  },
);

test('requires one of session_token and token, not both', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  const send = (body: object) => api.post('/api/v2/client/logout', body);
  for (const body of [
    { app_id: app.app_id },
    { app_id: app.app_id, session_token: token, token },
    { app_id: app.app_id, session_token: token, token: 'another' },
    { app_id: app.app_id, session_token: '' },
    { app_id: app.app_id, token: null },
    { app_id: app.app_id, session_token: 7, nonce: newNonce() },
  ]) {
    expectError(await send(body), 400, 'VALIDATION_FAILED');
  }
  expectFaults(await send({ session_token: token }), '/app_id');
  expect((await api.verify({ app_id: app.app_id, token })).status).toBe(200);
});

describe('the signature of the response', () => {
  test('is present if a nonce was sent, over that nonce', async () => {
    const app = await newApp(api);
    for (const how of ['signed', 'unsigned']) {
      const { token } = await newSession(api, app);
      const nonce = newNonce();
      const request = { app_id: app.app_id, session_token: token, nonce };
      const { status, body } =
        how === 'signed' ? await api.logoutV2(...sign(app, request)) : await api.logoutV2(request);
      expect(status).toBe(200);
      const bound = { operation: 'logoutUserV2', body: JSON.stringify(request) };
      expect(body.signature).toBe(
        how === 'signed' ? signatureOf(app, nonce, body) : boundSignatureOf(app, bound, nonce, body),
      );
    }
  });

  test('is absent without a nonce', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    const { body } = await api.logoutV2(...sign(app, { app_id: app.app_id, session_token: token }));
    expect(body).not.toHaveProperty('signature');
  });
});

test('SESSION_INVALID for anything but a session of this application, and nothing ends', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const { token } = await newSession(api, app);
  const responses = [
    await api.logoutV2({ app_id: other.app_id, session_token: token }),
    await api.logoutV2({ app_id: 'app_unknown', session_token: token }),
    await api.logoutV2({ app_id: app.app_id, session_token: 'nonsense' }),
    await api.logoutV2(...sign(other, { app_id: other.app_id, session_token: token })),
  ];
  for (const response of responses) {
    expectError(response, 401, 'SESSION_INVALID');
    expect(comparable(response)).toEqual(comparable(responses[0]!));
  }
  expect((await api.verify({ app_id: app.app_id, token })).status).toBe(200);
});

test('SESSION_EXPIRED after 24 hours', async () => {
  const app = await newApp(api);
  const [first, second] = [await newSession(api, app), await newSession(api, app)];
  clock.advance(DAY - 1);
  expect((await api.logoutV2({ app_id: app.app_id, session_token: first.token })).status).toBe(200);
  clock.advance(1);
  const late = { app_id: app.app_id, session_token: second.token };
  expectError(await api.logoutV2(late), 401, 'SESSION_EXPIRED');
});

test('SIGNATURE_REQUIRED leaves the session alive', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  await app.patch({ require_signatures: true });
  const request = { app_id: app.app_id, session_token: token };
  expectError(await api.logoutV2(request), 401, 'SIGNATURE_REQUIRED');
  expectError(await api.logoutV2({ ...request, nonce: newNonce() }), 401, 'SIGNATURE_REQUIRED');
  expect((await api.verifyV2(...sign(app, { app_id: app.app_id, token }))).status).toBe(200);
  expect((await api.logoutV2(...sign(app, request))).status).toBe(200);
});

describe.each(['paused', 'disabled'] as const)('of an application that is %s', (status) => {
  test.each(['without', 'with'])('does what it reports, %s a nonce', async (how) => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    await app.patch({ status, pause_sessions: true });
    const request = { app_id: app.app_id, session_token: token };
    const response = await api.logoutV2({ ...request, ...(how === 'with' && { nonce: newNonce() }) });
    await app.patch({ status: 'active' });
    const ended = (await api.verify({ app_id: app.app_id, token })).status === 401;
    expect(ended).toBe(response.status === 200);
    if (status === 'paused' || how === 'without') expect(response.status).toBe(200);
  });
});

test('a signed replay ends no later session', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const { token } = (await api.login(app.with(user))).body;
  const request = sign(app, { app_id: app.app_id, session_token: token, nonce: newNonce() });
  expect((await api.logoutV2(...request)).status).toBe(200);
  const renewed = (await api.login(app.with(user))).body;
  expectError(await api.logoutV2(...request), 401, 'NONCE_REUSED');
  expect((await api.verify({ app_id: app.app_id, token: renewed.token })).status).toBe(200);
});
