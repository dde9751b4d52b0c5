import { describe, expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { ban, lift, newApp, newSession, newUser } from '../../support/fixtures.ts';
import { follow, openStream } from '../../support/event-stream.ts';
import { untilPublished } from '../../support/until-published.ts';
import { startTestService } from '../../support/service.ts';
import { licensesOf, redeemed } from '../support/licenses.ts';

const PATH = '/api/v2/client/events';

const service = await startTestService();
const { api, clock } = service;

describe('a session sees', () => {
  test('its own events and those of its user and its application, and no others', async () => {
    const app = await newApp(api);
    const other = await newApp(api);
    const session = await newSession(api, app);
    const stranger = await newSession(api, app);
    const stream = await follow(service, PATH, session.token);
    expect(stream.retry()).toBe(1000);

    await other.patch({ paused: true });
    await app.patch({ name: 'Aurora' });
    const [key] = await app.keys(1);
    await api.activate(app.with({ username: stranger.owner.username, license_key: key! }));
    await api.logout({ app_id: app.app_id, token: stranger.token });
    const [mine] = await app.keys(1);
    await api.activate(app.with({ username: session.owner.username, license_key: mine! }));
    await api.logout({ app_id: app.app_id, token: session.token });

    expect(await stream.ended).toBe('end');
    expect(stream.events.map(({ type }) => type)).toEqual([
      'application.updated',
      'license.redeemed',
      'session.ended',
    ]);
    for (const { id, type, data } of stream.events) {
      expect(data).toMatchObject({ id, type, app_id: app.app_id });
    }
    expect(stream.events.at(-1)!.data.data).toMatchObject({ reason: 'logout' });
  });
});

describe('the stream ends with the session', () => {
  test('when it is replaced by a login of the same machine', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const stream = await follow(service, PATH, session.session_id);
    await api.login(app.with(session.owner));
    expect(await stream.ended).toBe('end');
    expect(stream.events.at(-1)).toMatchObject({
      type: 'session.ended',
      data: { data: { reason: 'replaced' } },
    });
  });

  test('when the user is banned', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const stream = await follow(service, PATH, session.token);
    await ban(api, app, { kind: 'user', username: session.owner.username });
    expect(await stream.ended).toBe('end');
    expect(stream.events.map(({ type }) => type)).toEqual(['user.banned', 'session.ended']);
  });

  test.each([
    ['its machine', 'HWID_BANNED'],
    ['its network', 'ADDRESS_BANNED'],
  ])('when %s is banned', async (what, code) => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const untouched = await newSession(api, app);
    const stream = await follow(service, PATH, session.token);
    const bystander = what === 'its machine' ? await follow(service, PATH, untouched.token) : undefined;
    if (what === 'its machine') await ban(api, app, { kind: 'hardware', hwid: session.owner.hwid });
    else await ban(api, app, { kind: 'network', network: '127.0.0.0/8' });
    expect(await stream.ended).toBe('end');
    expect(stream.events).toMatchObject([
      { id: undefined, type: 'session.refused', data: { data: { code } } },
    ]);
    if (bystander) {
      await app.patch({ name: 'Still here' });
      await bystander.next('application.updated');
    }
  });

  test('a ban of another network affects no one', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const stream = await follow(service, PATH, session.token);
    const banId = await ban(api, app, { kind: 'network', network: '203.0.113.0/24' });
    await lift(api, app, banId);
    await app.patch({ name: 'Still here' });
    await stream.next('application.updated');
    expect(stream.events).toHaveLength(1);
  });

  test('when it expires', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const stream = await follow(service, PATH, session.token);
    clock.advance(DAY);
    expect(await stream.ended).toBe('end');
    expect(stream.events).toMatchObject([{ id: undefined, type: 'session.expired' }]);
  });

  test('when the required subscription moves to another user', async () => {
    const app = await newApp(api);
    await app.patch({ require_subscription: true });
    const { license_id, user } = await redeemed(api, app);
    const { user: neighbor } = await redeemed(api, app);
    const stream = await follow(service, PATH, (await api.login(app.with(user))).body.token);
    const bystander = await follow(service, PATH, (await api.login(app.with(neighbor))).body.token);
    await licensesOf(api, app).transfer(license_id, neighbor.username);
    expect(await stream.ended).toBe('end');
    expect(stream.events.map(({ type }) => type)).toEqual(['user.subscription_reduced', 'session.refused']);
    expect(stream.events.at(-1)!.data.data).toEqual({ code: 'SUBSCRIPTION_EXPIRED' });
    await app.patch({ name: 'Still here' });
    await bystander.next('application.updated');
  });

  test('when the required subscription ends, and not at an end that was extended', async () => {
    const app = await newApp(api);
    await app.patch({ require_subscription: true });
    const { user } = await redeemed(api, app, { duration_days: 1 });
    const { user: loyal } = await redeemed(api, app, { duration_days: 1 });
    clock.advance(DAY / 2);
    const stream = await follow(service, PATH, (await api.login(app.with(user))).body.token);
    const bystander = await follow(service, PATH, (await api.login(app.with(loyal))).body.token);
    const [key, another] = await app.keys(2);
    await api.activate(app.with({ username: loyal.username, license_key: key! }));
    clock.advance(DAY / 2 - 1);
    await app.patch({ name: 'Not yet' });
    await stream.next('application.updated');
    clock.advance(1);
    expect(await stream.ended).toBe('end');
    expect(stream.events.at(-1)).toMatchObject({
      id: undefined,
      type: 'session.refused',
      data: { data: { code: 'SUBSCRIPTION_EXPIRED' } },
    });
    await api.activate(app.with({ username: loyal.username, license_key: another! }));
    await expect
      .poll(() => bystander.events.map(({ type }) => type))
      .toEqual(['license.redeemed', 'application.updated', 'license.redeemed']);
  });

  test.each(['disabled', 'deleted'])('when the application is %s', async (how) => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const stream = await follow(service, PATH, session.token);
    if (how === 'disabled') await app.patch({ status: 'disabled' });
    else await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
    expect(await stream.ended).toBe('end');
    expect(stream.events.map(({ type }) => type)).toEqual([`application.${how}`]);
  });

  test('not at a pause, which is an event, unless sessions are paused too', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const stream = await follow(service, PATH, session.token);
    await app.patch({ paused: true });
    await stream.next('application.paused');
    await app.patch({ pause_sessions: true });
    expect(await stream.ended).toBe('end');
    expect(stream.events.map(({ type }) => type)).toEqual([
      'application.paused',
      'application.updated',
      'session.refused',
    ]);
    expect(stream.events.at(-1)!.data.data).toEqual({ code: 'APPLICATION_PAUSED' });
  });
});

describe('a client that reconnects', () => {
  test('gets the events it missed, once and in order, even if it has seen none before', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const first = await follow(service, PATH, session.token);
    const start = first.lastId();
    expect(start).toMatch(/^evt_/);
    expect(first.events).toEqual([]);
    await first.close();
    for (const name of ['A', 'B', 'C']) await app.patch({ name });
    const second = await follow(service, PATH, session.token, { 'last-event-id': start! });
    await expect.poll(() => second.events.length).toBe(3);
    await second.close();
    const third = await follow(service, PATH, session.token, { 'last-event-id': second.events[0]!.id! });
    await app.patch({ name: 'D' });
    await expect.poll(() => third.events.length).toBe(3);
    expect(third.events.slice(0, 2)).toEqual(second.events.slice(1));
  });

  test('is notified if its last event is unknown, and continues with new events', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    await app.patch({ name: 'before' });
    const foreign = await newSession(api, await newApp(api));
    const elsewhere = await follow(service, PATH, foreign.token);
    for (const id of ['evt_01kazmd3t8e6y9q2v5n7x0b4wj', 'nonsense', elsewhere.lastId()!]) {
      const stream = await follow(service, PATH, session.token, { 'last-event-id': id });
      await app.patch({ name: 'after' });
      await stream.next('application.updated');
      expect(stream.events.map(({ type }) => type)).toEqual(['stream.reset', 'application.updated']);
      expect(stream.events[0]!.data.data).toEqual({ last_event_id: id });
      await stream.close();
    }
  });

  test('gets events that arrive while it reads a long history, without gaps or overlaps', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const start = (await follow(service, PATH, session.token)).lastId()!;
    const change = (n: number) => app.patch({ name: `name ${n}` });
    for (let n = 0; n < 250; n += 1) await change(n);
    const stream = await openStream(api, PATH, session.token, { 'last-event-id': start });
    for (let n = 0; n < 50; n += 1) await change(n);
    await expect.poll(() => stream.events.length).toBe(300);
    const ids = stream.events.map(({ id }) => id!);
    expect(new Set(ids).size).toBe(300);
    expect(ids).toEqual([...ids].sort());
  });
});

describe('a stream is refused', () => {
  const call = (token: string | undefined, headers = {}) =>
    api.call('GET', PATH, undefined, { token, headers });

  test('without a token, with nonsense, with a token of another kind', async () => {
    const app = await newApp(api);
    expect(await call(undefined)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
    for (const token of ['nonsense', app.token, app.secret]) {
      expect(await call(token)).toMatchObject({ status: 401, body: { code: 'SESSION_INVALID' } });
    }
  });

  test('after logout and after expiry', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    await api.logout({ app_id: app.app_id, token: session.token });
    expect(await call(session.token)).toMatchObject({ status: 401, body: { code: 'SESSION_INVALID' } });
    const old = await newSession(api, app);
    clock.advance(DAY);
    expect(await call(old.token)).toMatchObject({ status: 401, body: { code: 'SESSION_EXPIRED' } });
  });

  test('while the application is disabled, or pauses sessions', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    await app.patch({ status: 'paused', pause_sessions: true });
    expect(await call(session.token)).toMatchObject({ status: 403, body: { code: 'APPLICATION_PAUSED' } });
    await app.patch({ status: 'disabled' });
    expect(await call(session.token)).toMatchObject({ status: 401, body: { code: 'APPLICATION_INACTIVE' } });
  });

  test('for a banned machine or network, and without a required subscription', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    await app.patch({ require_subscription: true });
    expect(await call(session.token)).toMatchObject({ status: 403, body: { code: 'SUBSCRIPTION_EXPIRED' } });
    await app.patch({ require_subscription: false });
    const network = await ban(api, app, { kind: 'network', network: '127.0.0.1' });
    expect(await call(session.token)).toMatchObject({ status: 403, body: { code: 'ADDRESS_BANNED' } });
    await lift(api, app, network);
    await ban(api, app, { kind: 'hardware', hwid: session.owner.hwid });
    expect(await call(session.token)).toMatchObject({ status: 403, body: { code: 'HWID_BANNED' } });
  });

  test('as the sixth of a session, until another one ends', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const streams = [];
    for (let n = 0; n < 5; n += 1) streams.push(await follow(service, PATH, session.token));
    const sixth = await call(session.token);
    expect(sixth).toMatchObject({ status: 429, body: { code: 'TOO_MANY_REQUESTS' } });
    expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(0);
    await follow(service, PATH, (await newSession(api, app)).token);
    await streams[0]!.close();
    await expect.poll(async () => (await call(session.token)).status).toBe(200);
  });

  test('with an invalid Last-Event-ID', async () => {
    const session = await newSession(api, await newApp(api));
    const response = await call(session.token, { 'last-event-id': 'x'.repeat(65) });
    expect(response).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });
});

test('HEAD responds and keeps no connection', async () => {
  const session = await newSession(api, await newApp(api));
  const before = service.services.realtime.connected().streams;
  for (let n = 0; n < 12; n += 1) {
    const response = await api.call('HEAD', PATH, undefined, { token: session.token });
    expect(response).toMatchObject({ status: 200, body: undefined });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
  }
  await expect.poll(() => service.services.realtime.connected().streams).toBeLessThanOrEqual(before);
});

test('a user who is registered later receives no earlier events', async () => {
  const app = await newApp(api);
  await app.patch({ name: 'before' });
  await untilPublished(service);
  const user = await newUser(api, app);
  const { body } = await api.login(app.with(user));
  const stream = await follow(service, PATH, body.token);
  await app.patch({ name: 'after' });
  await stream.next('application.updated');
  expect(stream.events).toHaveLength(1);
});
