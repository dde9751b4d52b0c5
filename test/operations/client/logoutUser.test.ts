import { expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { newApp, newHwid, newSession, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { encryptedSession } from '../support/journeys.ts';

const service = await startTestService();
const { api, clock } = service;

test.each(['JWS', 'session id', 'JWE'])(
  'ends the session of a %s, under every handle, at once',
  async (form) => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const session =
      form === 'JWE' ? await encryptedSession(service, app, user) : (await api.login(app.with(user))).body;
    const { status, body } = await api.logout({
      app_id: app.app_id,
      token: form === 'session id' ? session.session_id : session.token,
    });
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'success', message: expect.any(String) });
    for (const token of [session.token, session.session_id]) {
      expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
      expectError(await api.logout({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
    }
  },
);

test('works once with concurrent requests', async () => {
  const app = await newApp(api);
  const { token, session_id } = await newSession(api, app);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_each, index) =>
      api.logout({ app_id: app.app_id, token: index % 2 ? token : session_id }),
    ),
  );
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const response of responses)
    if (response.status !== 200) expectError(response, 401, 'SESSION_INVALID');
});

test('ends that session and no other', async () => {
  const app = await newApp(api);
  await app.patch({ hwid_lock: false });
  const user = await newUser(api, app);
  const first = (await api.login(app.with(user))).body;
  const second = (await api.login(app.with({ ...user, hwid: newHwid() }))).body;
  const stranger = await newSession(api, app);
  await api.logout({ app_id: app.app_id, token: first.token });
  for (const { token } of [second, stranger]) {
    expect((await api.verify({ app_id: app.app_id, token })).status).toBe(200);
  }
  // And the user may log in again.
  expect((await api.login(app.with(user))).status).toBe(200);
});

test('SESSION_EXPIRED after 24 hours', async () => {
  const app = await newApp(api);
  const [first, second] = [await newSession(api, app), await newSession(api, app)];
  clock.advance(DAY - 1);
  expect((await api.logout({ app_id: app.app_id, token: first.token })).status).toBe(200);
  clock.advance(1);
  expectError(await api.logout({ app_id: app.app_id, token: second.token }), 401, 'SESSION_EXPIRED');
  expectError(await api.logout({ app_id: app.app_id, token: first.token }), 401, 'SESSION_INVALID');
});

test('SESSION_INVALID for anything but a session of this application, and nothing ends', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const { token } = await newSession(api, app);
  const responses = await Promise.all([
    api.logout({ app_id: other.app_id, token }),
    api.logout({ app_id: 'app_unknown', token }),
    api.logout({ app_id: app.app_id, token: 'nonsense' }),
    api.logout({ app_id: app.app_id, token: app.token }),
  ]);
  for (const response of responses) {
    expectError(response, 401, 'SESSION_INVALID');
    expect(comparable(response)).toEqual(comparable(responses[0]));
  }
  expect((await api.verify({ app_id: app.app_id, token })).status).toBe(200);
});

test.each(['paused', 'disabled'] as const)('works while the application is %s', async (status) => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  await app.patch({ status, pause_sessions: true });
  expect((await api.logout({ app_id: app.app_id, token })).status).toBe(200);
  await app.patch({ status: 'active' });
  expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
});

test('VALIDATION_FAILED lists every fault', async () => {
  const logout = (body: object) => api.post('/api/v1/client/logout', body);
  expectFaults(await logout({}), '/app_id', '/token');
  expectFaults(await logout({ app_id: null, token: [''] }), '/app_id', '/token');
});
