import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { listEventsOfApplications } from '../../../src/foundation/events/account-event-store.ts';
import { readEvents } from '../../../src/foundation/events/event-store.ts';
import { untilPublished } from '../../support/until-published.ts';
import {
  newApp,
  newDeveloper,
  newSession,
  newUser,
  type App,
  type Developer,
} from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { newApiToken } from '../support/tokens.ts';

type Events = components['schemas']['ApplicationEventList'];

const service = await startTestService();
const { api, database } = service;

const list = (token: string, query = '') =>
  api.call<Events>('GET', `/api/v2/dev/events${query}`, undefined, { token });

describe('the events of several applications', () => {
  let developer: Developer;
  let [first, second]: App[] = [];
  let userId: string;
  let all: Events['data'];

  beforeAll(async () => {
    developer = await newDeveloper(api);
    first = await newApp(api, developer);
    const foreign = await newApp(api);
    second = await newApp(api, developer);
    const session = await newSession(api, first);
    await newUser(api, foreign);
    await newUser(api, second);
    await newUser(api, first);
    userId = (await api.verify({ app_id: first.app_id, token: session.token })).body.user_id;
  });

  test('come in the order of publication, and none of another developer', async () => {
    await untilPublished(service);
    const { status, body } = await list(developer.token);
    expect(status).toBe(200);
    all = body.data;
    expect(all.map(({ type, app_id }) => [type, app_id])).toEqual([
      ['application.created', first!.app_id],
      ['application.created', second!.app_id],
      ['user.created', first!.app_id],
      ['session.created', first!.app_id],
      ['user.created', second!.app_id],
      ['user.created', first!.app_id],
    ]);
    expect(body).toMatchObject({ has_more: false, last_event_id: all.at(-1)!.id });
  });

  test.each<[string, () => string, number[]]>([
    ['type', () => 'type=user.created', [2, 4, 5]],
    ['types', () => 'type=session.created,application.created', [0, 1, 3]],
    ['an unknown type', () => 'type=no.such', []],
    ['application', () => `app_id=${second!.app_id}`, [1, 4]],
    ['application and type', () => `app_id=${first!.app_id}&type=user.created`, [2, 5]],
    ['an absent application', () => 'app_id=app_absent', []],
    ['user', () => `user_id=${userId}`, [2, 3]],
    ['user and type', () => `user_id=${userId}&type=session.created`, [3]],
    ['user of another application', () => `user_id=${userId}&app_id=${second!.app_id}`, []],
    ['the newest first', () => 'order=desc', [5, 4, 3, 2, 1, 0]],
    ['the newest first, by type', () => 'order=desc&type=user.created', [5, 4, 2]],
    ['the newest first, by user', () => `order=desc&user_id=${userId}`, [3, 2]],
    ['after an event of another application', () => `after=${all[1]!.id}&app_id=${first!.app_id}`, [2, 3, 5]],
  ])('can be filtered: %s', async (_what, query, places) => {
    const { body } = await list(developer.token, `?${query()}`);
    expect(body.data).toEqual(places.map((place) => all[place]));
  });

  test.each(['asc', 'desc'])('in pages, %s', async (order) => {
    for (const filter of [
      '',
      '&type=user.created,session.created,application.created',
      `&user_id=${userId}`,
    ]) {
      const whole = (await list(developer.token, `?order=${order}${filter}`)).body.data;
      const seen: Events['data'][number][] = [];
      for (let after = '', more = true; more;) {
        const { body } = await list(developer.token, `?limit=1&order=${order}${filter}${after}`);
        expect(body.data.length).toBeLessThanOrEqual(1);
        seen.push(...body.data);
        after = `&after=${body.last_event_id}`;
        more = body.has_more;
      }
      expect(seen).toEqual(whole);
    }
  });

  test("EVENT_NOT_FOUND for an unknown event and another developer's", async () => {
    const stranger = await newDeveloper(api);
    await newApp(api, stranger);
    for (const id of ['evt_absent', all[0]!.id])
      expectError(await list(stranger.token, `?after=${id}`), 404, 'EVENT_NOT_FOUND');
    const { body } = await list(stranger.token, `?app_id=${first!.app_id}`);
    expect(body.data).toEqual([]);
    expect((await list(stranger.token, `?user_id=${userId}`)).body.data).toEqual([]);
  });
});

test('a developer without applications has none', async () => {
  const { token } = await newDeveloper(api);
  expect((await list(token)).body).toMatchObject({ data: [], last_event_id: null, has_more: false });
});

test('the deletion of an application is listed', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  await untilPublished(service);
  const types = (await list(developer.token)).body.data.map(({ type }) => type);
  expect(types).toContain('application.deleted');
});

describe('of 1,000 applications', () => {
  const appIds = Array.from({ length: 1_000 }, (_, n) => `app_many_${n}`);

  beforeAll(async () => {
    // Before every other event, so that the relay does not see them.
    await database.knex.raw(
      `insert into events (event_id, app_id, type, audience, data, created_at, position)
       select 'evt_many_' || n, 'app_many_' || n % 1000,
         (array['user.created', 'session.created', 'session.ended'])[1 + n / 1000 % 3], 'developer', '{}', now(),
         n - 100000
       from generate_series(0, 59999) n`,
    );
    await database.knex.raw('analyze events');
  });

  test.each([
    ['everything', {}, 101],
    ['one type', { types: ['session.ended'] }, 101],
    ['several types', { types: ['session.ended', 'user.created', 'license.created'] }, 101],
  ])('%s costs a step for each, and a few pages', async (_what, filter, found) => {
    const { pool } = database;
    for (const order of ['asc', 'desc'] as const) {
      const statements: { sql: string; bindings: readonly unknown[] }[] = [];
      const explaining = {
        isTransaction: false,
        raw(sql: string, bindings: Record<string, unknown>) {
          const query = database.knex
            .raw(sql, bindings as never)
            .toSQL()
            .toNative();
          statements.push({ sql: query.sql, bindings: query.bindings });
          return Promise.resolve({ rows: [] });
        },
      } as unknown as typeof database.knex;
      const position = order === 'asc' ? -60_000 : -50_000;
      await listEventsOfApplications(explaining, readEvents, appIds, filter, { position, order, limit: 101 });
      const [{ sql, bindings }] = statements as [(typeof statements)[0]];
      const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, format json) ${sql}`,
        [...bindings],
      );
      const plan = rows[0]!['QUERY PLAN'][0].Plan;
      expect(plan['Actual Rows']).toBe(found);
      const scans = nodesOf(plan).filter((node) => node['Relation Name'] === 'events');
      for (const scan of scans) expect(scan['Node Type']).not.toBe('Seq Scan');
      const read = scans.map((node) => node['Actual Rows'] * node['Actual Loops']);
      // 1,000 or 3,000 applications with types, then at most 101 with 101 events each.
      expect(read.reduce((sum, each) => sum + each, 0)).toBeLessThan(3_000 + 101 * 101 + 200);
      for (const scan of scans) expect(scan['Rows Removed by Filter'] ?? 0).toBe(0);
    }
  });
});

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

test('VALIDATION_FAILED and INSUFFICIENT_SCOPE', async () => {
  const developer = await newDeveloper(api);
  expectFaults(await list(developer.token, '?type=everything'), 'query/type');
  expectFaults(await list(developer.token, '?order=up'), 'query/order');
  const { token } = await newApiToken(api, developer, ['write']);
  expectError(await list(token), 403, 'INSUFFICIENT_SCOPE');
});
