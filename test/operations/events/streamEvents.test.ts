import { describe, expect, test } from 'vitest';
import { follow, openStream } from '../../support/event-stream.ts';
import { ban, newApp, newDeveloper, newSession, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';

const service = await startTestService({}, { heartbeatTickMs: 100 });
const { api } = service;

const pathOf = ({ app_id }: App, types?: string) =>
  `/api/v2/dev/apps/${app_id}/events/stream${types === undefined ? '' : `?type=${types}`}`;

describe('the stream', () => {
  test('shows all events of the application, in order, and none of another one', async () => {
    const app = await newApp(api);
    const other = await newApp(api);
    const stream = await follow(service, pathOf(app), app.token);
    await newSession(api, other);
    const session = await newSession(api, app);
    await app.keys(1);
    await ban(api, app, { kind: 'user', username: session.owner.username });
    await stream.next('session.ended');
    expect(stream.events.map(({ type }) => type)).toEqual([
      'user.created',
      'session.created',
      'license.created',
      'user.banned',
      'session.ended',
    ]);
    const listed = await api.call('GET', `/api/v2/dev/apps/${app.app_id}/events`, undefined, {
      token: app.token,
    });
    expect((listed.body['data'] as unknown[]).slice(1)).toEqual(stream.events.map(({ data }) => data));
  });

  test('can be filtered by types', async () => {
    const app = await newApp(api);
    const stream = await follow(service, pathOf(app, 'user.created,session.ended'), app.token);
    const session = await newSession(api, app);
    await api.logout({ app_id: app.app_id, token: session.token });
    await stream.next('session.ended');
    expect(stream.events.map(({ type }) => type)).toEqual(['user.created', 'session.ended']);
  });

  test('continues after the last event, filtered or not', async () => {
    const app = await newApp(api);
    const stream = await follow(service, pathOf(app), app.token);
    const start = stream.lastId()!;
    await stream.close();
    const session = await newSession(api, app);
    await api.logout({ app_id: app.app_id, token: session.token });
    const all = await follow(service, pathOf(app), app.token, { 'last-event-id': start });
    await all.next('session.ended');
    expect(all.events.map(({ type }) => type)).toEqual(['user.created', 'session.created', 'session.ended']);
    const some = await follow(service, pathOf(app, 'session.ended'), app.token, { 'last-event-id': start });
    await some.next('session.ended');
    expect(some.events).toHaveLength(1);
    const rest = await follow(service, pathOf(app), app.token, { 'last-event-id': all.events[1]!.id! });
    await rest.next('session.ended');
    expect(rest.events).toHaveLength(1);
  });

  test('reports that it cannot continue after an unknown event', async () => {
    const app = await newApp(api);
    const stream = await follow(service, pathOf(app), app.token, { 'last-event-id': 'evt_gone' });
    expect(stream.events).toMatchObject([
      {
        id: undefined,
        type: 'stream.reset',
        data: { app_id: app.app_id, data: { last_event_id: 'evt_gone' } },
      },
    ]);
  });

  test.each([undefined, 'user.created'])(
    'ends when the application is deleted, filtered by %s',
    async (types) => {
      const app = await newApp(api);
      const stream = await follow(service, pathOf(app, types), app.token);
      await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
      expect(await stream.ended).toBe('end');
      expect(stream.events.map(({ type }) => type)).toEqual(types ? [] : ['application.deleted']);
    },
  );

  test('continues while the application is disabled', async () => {
    const app = await newApp(api);
    const stream = await follow(service, pathOf(app), app.token);
    await app.patch({ status: 'disabled' });
    await app.patch({ status: 'active' });
    await stream.next('application.enabled');
    expect(stream.events.map(({ type }) => type)).toEqual(['application.disabled', 'application.enabled']);
  });

  test('ends when its token is deleted, and continues until then', async () => {
    const app = await newApp(api);
    const { body } = await api.post<{ token: string; token_id: string }>(
      '/api/v2/dev/tokens',
      { name: 'reader', scopes: ['read'] },
      { token: app.token },
    );
    const stream = await follow(service, pathOf(app), body.token);
    const control = await follow(service, pathOf(app), app.token);
    await api.call('DELETE', `/api/v2/dev/tokens/${body.token_id}`, undefined, { token: app.token });
    // It is checked at the next heartbeat.
    expect(await stream.ended).toBe('end');
    // The stream's own heartbeat may be a second later.
    await expect.poll(() => control.comments()).toBeGreaterThan(0);
    await app.patch({ name: 'still here' });
    await control.next('application.updated');
  });
});

describe('what is refused', () => {
  const call = (app: App, token: string | undefined, query = '') =>
    api.call('GET', pathOf(app) + query, undefined, { token });

  test('no token, a session, a token that may not read, another developer', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    expect(await call(app, undefined)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
    expect(await call(app, session.token)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
    const { body } = await api.post<{ token: string }>(
      '/api/v2/dev/tokens',
      { name: 'writer', scopes: ['write'] },
      { token: app.token },
    );
    expect(await call(app, body.token)).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } });
    const stranger = await newDeveloper(api);
    expect(await call(app, stranger.token)).toMatchObject({
      status: 404,
      body: { code: 'APPLICATION_NOT_FOUND' },
    });
  });

  test('invalid types', async () => {
    const app = await newApp(api);
    expect(await call(app, app.token, '?type=x')).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    });
  });

  test('the eleventh stream', async () => {
    const app = await newApp(api);
    for (let n = 0; n < 10; n += 1) await follow(service, pathOf(app), app.token);
    expect(await call(app, app.token)).toMatchObject({ status: 429, body: { code: 'TOO_MANY_REQUESTS' } });
    const other = await newApp(api);
    expect((await call(other, other.token)).status).toBe(200);
  });
});

test('a developer has at most 100, regardless of the number of tokens', async () => {
  const app = await newApp(api);
  const open = async () => {
    const wanted = { name: 'reader', scopes: ['read'] };
    const { body } = await api.post<{ token: string }>('/api/v2/dev/tokens', wanted, { token: app.token });
    return Promise.all(Array.from({ length: 10 }, () => openStream(api, pathOf(app), body.token)));
  };
  for (let tokens = 0; tokens < 10; tokens += 1) await open();
  const refused = await api.call('GET', pathOf(app), undefined, { token: app.token });
  expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_REQUESTS' } });
  const other = await newApp(api);
  await follow(service, pathOf(other), other.token);
});

test('a full node accepts no more', async () => {
  const small = await startTestService({ MAX_EVENT_CLIENTS: '2' });
  const app = await newApp(small.api);
  const first = await follow(small, pathOf(app), app.token);
  await follow(small, pathOf(app), app.token);
  const response = await small.api.call('GET', pathOf(app), undefined, { token: app.token });
  expect(response).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  await first.close();
  await expect
    .poll(async () => (await small.api.call('GET', pathOf(app), undefined, { token: app.token })).status)
    .toBe(200);
});
