import { describe, expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { ban, newApp, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { encryptedSession } from '../support/journeys.ts';
import { putUserVariable, seen, setVariable, variablesOf } from '../support/variables.ts';

const service = await startTestService();
const { api, clock } = service;

const list = (appId: string, token?: string, headers: Record<string, string> = {}) =>
  api.call('GET', `/api/v2/client/apps/${appId}/variables`, undefined, { token, headers });

test('everyone sees public variables; a session sees more, and its own override others', async () => {
  const app = await newApp(api);
  const session = await newSession(api, app);
  await setVariable(api, app, 'z', 'public');
  await setVariable(api, app, 'B', 'for sessions', 'session');
  await setVariable(api, app, 'a', 'public too');
  await setVariable(api, app, 'hidden', 'for sessions', 'session');
  await putUserVariable(api, app, session.user!.id!, 'a', 'own');
  await putUserVariable(api, app, session.user!.id!, 'mine', 'own');
  expect((await list(app.app_id)).body).toEqual({
    status: 'success',
    data: [
      { name: 'a', value: 'public too', source: 'application' },
      { name: 'z', value: 'public', source: 'application' },
    ],
  });
  const wanted = {
    status: 'success',
    data: [
      { name: 'B', value: 'for sessions', source: 'application' },
      { name: 'a', value: 'own', source: 'user' },
      { name: 'hidden', value: 'for sessions', source: 'application' },
      { name: 'mine', value: 'own', source: 'user' },
      { name: 'z', value: 'public', source: 'application' },
    ],
  };
  const encrypted = await encryptedSession(service, app, session.owner);
  expect((await list(app.app_id, encrypted.token)).body).toEqual(wanted);
  expect((await list(app.app_id, encrypted.session_id)).body).toEqual(wanted);
});

test('an application without variables has an empty list', async () => {
  const app = await newApp(api);
  expect((await list(app.app_id)).body).toEqual({ status: 'success', data: [] });
});

describe('If-None-Match', () => {
  test('returns 304 until something changes, with a separate tag for each caller', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    await setVariable(api, app, 'a', '1');
    const first = await list(app.app_id);
    const tag = first.headers.get('etag')!;
    expect(tag).toMatch(/^"[\w-]{43}"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect(first.headers.get('vary')).toBe('Authorization');
    for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const again = await list(app.app_id, undefined, { 'if-none-match': known });
      expect({ status: again.status, body: again.body }).toEqual({ status: 304, body: undefined });
      expect(again.headers.get('etag')).toBe(tag);
    }
    expect((await list(app.app_id, undefined, { 'if-none-match': '"x"' })).status).toBe(200);
    await setVariable(api, app, 'b', '2', 'session');
    expect((await list(app.app_id, undefined, { 'if-none-match': tag })).status).toBe(304);
    expect((await list(app.app_id, token, { 'if-none-match': tag })).status).toBe(200);
    await setVariable(api, app, 'a', '2');
    expect((await list(app.app_id, undefined, { 'if-none-match': tag })).status).toBe(200);
  });
});

describe('refusals', () => {
  test('SESSION_INVALID: another application’s token, an ended one, nonsense', async () => {
    const [app, other] = [await newApp(api), await newApp(api)];
    await setVariable(api, app, 'a', '1');
    const { token } = await newSession(api, other);
    expectError(await list(app.app_id, token), 401, 'SESSION_INVALID');
    expect((await list(other.app_id, token)).status).toBe(200);
    const ended = await newSession(api, app);
    await api.logout({ app_id: app.app_id, token: ended.token });
    expectError(await list(app.app_id, ended.token), 401, 'SESSION_INVALID');
    expectError(await list(app.app_id, 'nonsense'), 401, 'SESSION_INVALID');
    expectError(await list(app.app_id, app.token), 401, 'SESSION_INVALID');
  });

  test('SESSION_EXPIRED after a day', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    clock.advance(DAY);
    expectError(await list(app.app_id, token), 401, 'SESSION_EXPIRED');
    expect(await seen(api, app)).toEqual({});
  });

  test('APPLICATION_NOT_FOUND for an unknown and a deleted application', async () => {
    expectError(await list('app_01kazm4q7ffx8v5t2w9y3b6n1c'), 404, 'APPLICATION_NOT_FOUND');
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    await setVariable(api, app, 'a', '1');
    await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
    expectError(await list(app.app_id), 404, 'APPLICATION_NOT_FOUND');
    expectError(await list(app.app_id, token), 401, 'SESSION_INVALID');
  });

  test('APPLICATION_INACTIVE for every caller while the application is disabled', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    await setVariable(api, app, 'a', '1');
    await app.patch({ status: 'disabled' });
    expectError(await list(app.app_id), 401, 'APPLICATION_INACTIVE');
    expectError(await list(app.app_id, token), 401, 'APPLICATION_INACTIVE');
    await app.patch({ status: 'active' });
    expect(await seen(api, app, token)).toEqual({ a: '1' });
  });

  test('a paused application returns them, but not to sessions under pause_sessions', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    await setVariable(api, app, 'a', '1');
    await app.patch({ paused: true });
    expect(await seen(api, app, token)).toEqual({ a: '1' });
    await app.patch({ pause_sessions: true });
    expectError(await list(app.app_id, token), 403, 'APPLICATION_PAUSED');
    expect(await seen(api, app)).toEqual({ a: '1' });
  });

  test('ADDRESS_BANNED, HWID_BANNED and SUBSCRIPTION_EXPIRED, like verify-session', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    await app.patch({ require_subscription: true });
    expectError(await list(app.app_id, session.token), 403, 'SUBSCRIPTION_EXPIRED');
    await app.patch({ require_subscription: false });
    await ban(api, app, { kind: 'hardware', hwid: session.owner.hwid });
    expectError(await list(app.app_id, session.token), 403, 'HWID_BANNED');
    const other = await newApp(api);
    const banned = await newSession(api, other);
    await ban(api, other, { kind: 'network', network: '127.0.0.0/8' });
    expectError(await list(other.app_id, banned.token), 403, 'ADDRESS_BANNED');
  });
});

test('variables are deleted with their application, and with their users', async () => {
  const app = await newApp(api);
  const { user } = await newSession(api, app);
  await setVariable(api, app, 'a', '1');
  await putUserVariable(api, app, user!.id!, 'a', '1');
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
  const { clearDeletedApplication } = await import('../../../src/app/housekeeping.ts');
  while ((await clearDeletedApplication(service.services)) > 0);
  expect(await service.services.variables.clearOf(app.app_id)).toBe(0);
  expectError(
    await api.call('GET', variablesOf(app), undefined, { token: app.token }),
    404,
    'APPLICATION_NOT_FOUND',
  );
});
