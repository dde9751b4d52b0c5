import { expect, test } from 'vitest';
import { newApp, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';

const { api } = await startTestService();

test('init, register, login, verify-session, activate, logout', async () => {
  const app = await newApp(api);
  const [key] = await app.keys(1, 'Pro', 30);
  expect((await api.init(app.with({}))).body).toMatchObject({ status: 'success', status_code: 'active' });
  const user = await newUser(api, app);
  const { body: session } = await api.login(app.with(user));
  const handles = [session.token, session.session_id];
  for (const token of handles) {
    const verified = await api.verify({ app_id: app.app_id, token, hwid: user.hwid });
    expect(verified.body).toMatchObject({ valid: true, username: user.username });
    expect(verified.body).not.toHaveProperty('subscription_status');
  }
  const activated = await api.activate(app.with({ username: user.username, license_key: key! }));
  expect(activated.body).toMatchObject({ subscription_tier: 'Pro', expires_at: '2026-12-21T10:00:00.000Z' });
  const verified = await api.verify({ app_id: app.app_id, token: session.token });
  expect(verified.body).toMatchObject({
    subscription_tier: 'Pro',
    subscription_expires_at: '2026-12-21T10:00:00.000Z',
  });
  expect((await api.logout({ app_id: app.app_id, token: session.token })).status).toBe(200);
  for (const token of handles) {
    expect((await api.verify({ app_id: app.app_id, token })).body.code).toBe('SESSION_INVALID');
  }
});
