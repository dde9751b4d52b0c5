import { expect, test } from 'vitest';
import { newApp, newDeveloper, newHwid, newUser } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { apiToken, connectAgent } from './client.ts';

const service = await startTestService();
const { api, baseUrl } = service;
const developer = await newDeveloper(api);
const app = await newApp(api, developer);
const { app_id } = app;
const user = await newUser(api, app);
await api.login(app.with(user));

const credentials = [
  ['the session of a developer', developer.token],
  ['an API token', await apiToken(api, developer.token, ['agent:execute', 'read', 'write'])],
] as const;

test.each(credentials)('every tool can be called with %s', async (_, token) => {
  const agent = await connectAgent(baseUrl, token);
  const ok = async (name: string, args: object = {}) => {
    const { isError, text, content } = await agent.call(name, args as Record<string, unknown>);
    expect(isError, `${name}: ${text}`).toBe(false);
    expect(JSON.parse(text), name).toEqual(content);
    expect(content, name).toMatchObject({ status: 'success' });
    return content as Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any
  };

  expect(await ok('get_account')).toMatchObject({ developer_id: developer.developerId });
  expect((await ok('list_applications', { limit: 1 }))['data']).toMatchObject([{ app_id }]);
  const made = await ok('generate_licenses', { app_id, amount: 2, duration_days: null, tier: 'Pro' });
  expect(made['licenses']).toHaveLength(2);
  const { license_id } = made['licenses'][0];
  expect((await ok('list_licenses', { app_id, tier: 'Pro', limit: 2 }))['data'][1]).toMatchObject({
    license_id,
  });
  expect(await ok('ban_license', { app_id, license_id, reason: 'Lost' })).toMatchObject({
    license: { license_id, status: 'banned' },
  });
  const found = await ok('find_users', { app_id, q: user.username, banned: false, hwid_bound: 'true' });
  const { user_id } = found['data'][0];
  expect(await ok('get_user', { app_id, user_id })).toMatchObject({ username: user.username });
  await ok('extend_subscription', { app_id, user_id, tier: 'Pro', days: 3 });
  await ok('reset_hardware', { app_id, user_id });
  await api.login(app.with(user));
  expect((await ok('get_statistics', { app_id }))['days']).toHaveLength(30);
  const hwid = newHwid();
  const session = await ok('sandbox_login', { app_id: 'sandbox', username: 'agent', hwid });
  const verified = await ok('sandbox_verify', { app_id: 'sandbox', token: session['token'], hwid });
  expect(verified).toMatchObject({ valid: true });
});
