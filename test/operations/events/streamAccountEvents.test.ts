import { describe, expect, test } from 'vitest';
import { untilPublished } from '../../support/until-published.ts';
import { follow, openStream } from '../../support/event-stream.ts';
import { newApp, newDeveloper, newSession, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { newApiToken } from '../support/tokens.ts';

const service = await startTestService({}, { heartbeatTickMs: 100 });
const { api, databaseUrl } = service;

const PATH = '/api/v2/dev/events/stream';

describe('the stream', () => {
  test('shows events of all applications in order, also of new ones, and of no other developer', async () => {
    const developer = await newDeveloper(api);
    const first = await newApp(api, developer);
    const foreign = await newApp(api);
    const stream = await follow(service, PATH, developer.token);
    await newUser(api, first);
    await newUser(api, foreign);
    const second = await newApp(api, developer);
    await newUser(api, second);
    const strange = await newApp(api);
    await newUser(api, strange);
    await newUser(api, first);
    await api.call('DELETE', `/api/v2/dev/apps/${first.app_id}`, undefined, developer);
    await newApp(api, developer);
    await stream.next('application.deleted');
    await expect.poll(() => stream.events.length).toBe(6);
    expect(stream.events.map(({ type, data }) => [type, data.app_id])).toEqual([
      ['user.created', first.app_id],
      ['application.created', second.app_id],
      ['user.created', second.app_id],
      ['user.created', first.app_id],
      ['application.deleted', first.app_id],
      ['application.created', expect.any(String)],
    ]);
  });

  test('shows applications that another node creates', async () => {
    const { api: other } = await startTestService({ DATABASE_URL: databaseUrl });
    const developer = await newDeveloper(api);
    const stream = await follow(service, PATH, developer.token);
    const app = await newApp(other, developer);
    await newUser(other, app);
    const { data } = await stream.next('user.created');
    expect(data.app_id).toBe(app.app_id);
  });

  test('can be filtered by type, application and user', async () => {
    const developer = await newDeveloper(api);
    const [first, second] = [await newApp(api, developer), await newApp(api, developer)];
    const session = await newSession(api, first);
    const userId = (await api.verify({ app_id: first.app_id, token: session.token })).body.user_id;
    const byType = await follow(service, `${PATH}?type=user.created`, developer.token);
    const byApp = await follow(service, `${PATH}?app_id=${second.app_id}`, developer.token);
    const byUser = await follow(service, `${PATH}?user_id=${userId}`, developer.token);
    await newUser(api, first);
    await newSession(api, second);
    await api.logout({ app_id: first.app_id, token: session.token });
    await byUser.next('session.ended');
    await byApp.next('session.created');
    await expect.poll(() => byType.events.length).toBe(2);
    expect(byType.events.map(({ data }) => data.app_id)).toEqual([first.app_id, second.app_id]);
    expect(byApp.events.map(({ type }) => type)).toEqual(['user.created', 'session.created']);
    expect(byUser.events.map(({ type }) => type)).toEqual(['session.ended']);
  });

  test('continues after the last event, with what happened in applications that were created since', async () => {
    const developer = await newDeveloper(api);
    await newApp(api, developer);
    const stream = await follow(service, PATH, developer.token);
    const start = stream.lastId()!;
    await stream.close();
    const app = await newApp(api, developer);
    for (let n = 0; n < 5; n += 1) await newUser(api, app);
    const resumed = await follow(service, PATH, developer.token, { 'last-event-id': start });
    await newUser(api, app);
    await expect.poll(() => resumed.events.length).toBe(7);
    expect(resumed.events[0]!.type).toBe('application.created');
    expect(new Set(resumed.events.map(({ id }) => id)).size).toBe(7);
    const strange = await newDeveloper(api);
    const reset = await follow(service, PATH, strange.token, { 'last-event-id': start });
    expect((await reset.next('stream.reset')).data).toMatchObject({ app_id: null, user_id: null });
  });

  test('misses and repeats nothing while applications are created and used concurrently', async () => {
    const developer = await newDeveloper(api);
    await newApp(api, developer);
    const stream = await follow(service, PATH, developer.token);
    const start = stream.lastId()!;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const app = await newApp(api, developer);
        await Promise.all([newUser(api, app), newUser(api, app)]);
      }),
    );
    const late = await openStream(api, PATH, developer.token, { 'last-event-id': start });
    await untilPublished(service);
    for (const each of [stream, late]) {
      await expect.poll(() => each.events.length).toBe(24);
      expect(new Set(each.events.map(({ id }) => id)).size).toBe(24);
    }
    expect(late.events.map(({ id }) => id)).toEqual(stream.events.map(({ id }) => id));
  });

  test('has heartbeats, and ends when its token is deleted', async () => {
    const developer = await newDeveloper(api);
    const { token, token_id } = await newApiToken(api, developer, ['read']);
    const ending = await follow(service, PATH, token);
    const kept = await follow(service, PATH, developer.token);
    await api.call('DELETE', `/api/v2/dev/tokens/${token_id}`, undefined, developer);
    await expect(ending.ended).resolves.toBe('end');
    await expect.poll(() => kept.comments()).toBeGreaterThan(0);
    expect(kept.retry()).toBe(1000);
  });
});

test('both kinds of streams count together: the eleventh is refused', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  for (let n = 0; n < 5; n += 1) {
    await follow(service, PATH, developer.token);
    await follow(service, `/api/v2/dev/apps/${app.app_id}/events/stream`, developer.token);
  }
  expectError(await api.call('GET', PATH, undefined, developer), 429, 'TOO_MANY_REQUESTS');
});

test('VALIDATION_FAILED and INSUFFICIENT_SCOPE', async () => {
  const developer = await newDeveloper(api);
  expectFaults(await api.call('GET', `${PATH}?type=everything`, undefined, developer), 'query/type');
  const { token } = await newApiToken(api, developer, ['write']);
  expectError(await api.call('GET', PATH, undefined, { token }), 403, 'INSUFFICIENT_SCOPE');
});
