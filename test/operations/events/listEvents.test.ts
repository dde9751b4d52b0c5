import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { ban, lift, newApp, newDeveloper, newSession, type App } from '../../support/fixtures.ts';
import { untilPublished } from '../../support/until-published.ts';
import { startTestService } from '../../support/service.ts';

type EventList = components['schemas']['ApplicationEventList'];

const service = await startTestService({ EVENT_DAYS: '2' });
const { api, clock } = service;

const list = (app: App, query: Record<string, string> = {}, token = app.token) =>
  api.call<EventList & { code?: string }>(
    'GET',
    `/api/v2/dev/apps/${app.app_id}/events?${new URLSearchParams(query)}`,
    undefined,
    { token },
  );

const typesOf = ({ data }: EventList) => data.map(({ type }) => type);

describe('the list', () => {
  test('shows events unchanged, the oldest first', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const banId = await ban(api, app, {
      kind: 'user',
      username: session.owner.username,
      reason: 'Chargeback',
    });
    await untilPublished(service);
    const { status, body } = await list(app);
    expect(status).toBe(200);
    expect(typesOf(body)).toEqual([
      'application.created',
      'user.created',
      'session.created',
      'user.banned',
      'session.ended',
    ]);
    expect(body.has_more).toBe(false);
    expect(body.last_event_id).toBe(body.data.at(-1)!.id);
    expect(body.data[3]).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-z]{26}$/) as string,
      type: 'user.banned',
      timestamp: clock.now().toISOString(),
      app_id: app.app_id,
      user_id: session.user!.id,
      data: { ban_id: banId, expires_at: null },
    });
    const text = JSON.stringify(body);
    for (const secret of [session.token, session.session_id, session.owner.hwid, app.secret]) {
      expect(text).not.toContain(secret);
    }
  });

  test('continues from a point in both directions, without gaps or overlaps', async () => {
    const app = await newApp(api);
    for (let n = 0; n < 25; n += 1) await app.patch({ name: `name ${n}` });
    await untilPublished(service);
    for (const order of ['asc', 'desc']) {
      const ids: string[] = [];
      let after: string | undefined;
      let pages = 0;
      for (let more = true; more; pages += 1) {
        const { body } = await list(app, { order, limit: '7', ...(after && { after }) });
        ids.push(...body.data.map(({ id }) => id));
        after = body.last_event_id!;
        more = body.has_more;
      }
      expect(pages).toBe(4);
      expect(ids).toHaveLength(26);
      const sorted = [...new Set(ids)].sort();
      expect(ids).toEqual(order === 'asc' ? sorted : sorted.reverse());
    }
    const end = (await list(app, { order: 'desc', limit: '1' })).body.last_event_id!;
    const { body } = await list(app, { after: end });
    expect(body).toEqual({ status: 'success', data: [], last_event_id: end, has_more: false });
    await app.patch({ name: 'one more' });
    await untilPublished(service);
    expect(typesOf((await list(app, { after: end })).body)).toEqual(['application.updated']);
  });

  test('can be filtered by types, by user, and by both', async () => {
    const app = await newApp(api);
    const one = await newSession(api, app);
    const two = await newSession(api, app);
    await api.logout({ app_id: app.app_id, token: one.token });
    await lift(api, app, await ban(api, app, { kind: 'user', username: two.owner.username }));
    await untilPublished(service);
    expect(typesOf((await list(app, { type: 'user.banned,session.ended' })).body)).toEqual([
      'session.ended',
      'user.banned',
      'session.ended',
    ]);
    expect(typesOf((await list(app, { user_id: one.user!.id! })).body)).toEqual([
      'user.created',
      'session.created',
      'session.ended',
    ]);
    const both = await list(app, { user_id: two.user!.id!, type: 'session.ended' });
    expect(both.body.data).toMatchObject([{ data: { reason: 'banned' } }]);
    expect((await list(app, { type: 'no.such' })).body).toMatchObject({ data: [], last_event_id: null });
    expect((await list(app, { user_id: 'usr_none' })).body.data).toEqual([]);
  });
});

describe('what is refused', () => {
  test("another developer's application, as an absent one", async () => {
    const app = await newApp(api);
    const stranger = await newDeveloper(api);
    for (const query of [{ limit: '5' }, { after: 'evt_x' }] as Record<string, string>[]) {
      const response = await list(app, query, stranger.token);
      expect(response).toMatchObject({ status: 404, body: { code: 'APPLICATION_NOT_FOUND' } });
    }
  });

  test("an event that is unknown or another application's", async () => {
    const app = await newApp(api);
    const other = await newApp(api);
    await untilPublished(service);
    const foreign = (await list(other)).body.last_event_id!;
    for (const after of [foreign, 'evt_01kazmd3t8e6y9q2v5n7x0b4wj', 'x']) {
      expect(await list(app, { after })).toMatchObject({ status: 404, body: { code: 'EVENT_NOT_FOUND' } });
    }
  });

  test.each([
    { limit: '0' },
    { limit: '101' },
    { limit: 'x' },
    { order: 'up' },
    { type: '' },
    { type: 'User.Banned' },
    { type: 'user.banned,' },
    { after: '' },
    { after: 'x'.repeat(65) },
    { user_id: '' },
  ])('%j', async (query) => {
    const app = await newApp(api);
    expect(await list(app, query as unknown as Record<string, string>)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    });
  });

  test('no token, a session, and a token that may not read', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    expect((await list(app, {}, session.token)).status).toBe(401);
    const made = await api.post<{ token: string }>(
      '/api/v2/dev/tokens',
      { name: 'writer', scopes: ['write'] },
      { token: app.token },
    );
    expect(await list(app, {}, made.body.token)).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_SCOPE' },
    });
  });
});

describe('how long events are kept', () => {
  test('their days, in the order of publication; a continuation after a cleared event is refused', async () => {
    const app = await newApp(api);
    await staySignedIn(app);
    await untilPublished(service);
    const first = (await list(app)).body.last_event_id!;
    clock.advance(DAY);
    await app.patch({ name: 'second' });
    await untilPublished(service);
    const second = (await list(app)).body.last_event_id!;
    clock.advance(DAY);
    const { events } = service.services;
    while ((await events.clearExpired()) > 0);
    expect((await list(app)).body.data).toMatchObject([{ id: first }, { id: second }]);
    clock.advance(1);
    while ((await events.clearExpired()) > 0);
    const kept = await list(app);
    expect(kept.body.data.map(({ id }) => id)).toEqual([second]);
    const gone = await list(app, { after: first });
    expect(gone).toMatchObject({ status: 404, body: { code: 'EVENT_NOT_FOUND' } });
  });

  test('an older event after a younger one stays until that one is cleared', async () => {
    const app = await newApp(api);
    await untilPublished(service);
    const database = await connectTo(service.databaseUrl);
    const at = (days: number) => new Date(clock.now().getTime() - days * DAY);
    await database.query(
      `insert into events (event_id, app_id, type, data, created_at) values
       ('evt_younger', $1, 'user.created', '{}', $2), ('evt_older', $1, 'user.created', '{}', $3)`,
      [app.app_id, at(1), at(3)],
    );
    await untilPublished(service);
    while ((await service.services.events.clearExpired()) > 0);
    const { rows } = await database.query(
      `select 1 from events where event_id in ('evt_younger', 'evt_older')`,
    );
    expect(rows).toHaveLength(2);
  });

  test('an unpublished event is not cleared', async () => {
    const database = await connectTo(service.databaseUrl);
    await database.query('begin');
    await database.query(`select 1 from relay_positions where name = 'log' for update`);
    await database.query(
      `insert into events (event_id, app_id, type, data, created_at)
       values ('evt_waiting', 'app_x', 'user.created', '{}', $1)`,
      [new Date(clock.now().getTime() - 10 * DAY)],
    );
    await database.query('savepoint written');
    expect(await service.services.events.clearOf('app_x')).toBe(0);
    await database.query('commit');
  });

  test("a deleted application's events are cleared, except the one of its deletion", async () => {
    const app = await newApp(api);
    await newSession(api, app);
    await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
    await untilPublished(service);
    expect(await service.services.events.clearOf(app.app_id)).toBe(3);
    const database = await connectTo(service.databaseUrl);
    const { rows } = await database.query('select type from events where app_id = $1', [app.app_id]);
    expect(rows).toEqual([{ type: 'application.deleted' }]);
  });
});

/** Extends the developer's session beyond the days that the clock advances. */
async function staySignedIn({ token }: App): Promise<void> {
  const database = await connectTo(service.databaseUrl);
  await database.query(
    'update developer_sessions set expires_at = $1 where token_digest = sha256($2::bytea)',
    [new Date(clock.now().getTime() + 10 * DAY), Buffer.from(token)],
  );
}
