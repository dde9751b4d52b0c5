import createKnex from 'knex';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { listEntries, type AuditFilter } from '../../../src/foundation/audit/audit-store.ts';
import { createNewId } from '../../../src/platform/ids.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { ban, newApp, newDeveloper, newUser, type App, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

type Entry = components['schemas']['AuditEntry'];

const service = await startTestService();
const { api, clock } = service;

const list = (token: string, query = '') =>
  api.call<components['schemas']['AuditEntryList']>('GET', `/api/v2/dev/audit-log${query}`, undefined, {
    token,
  });

const shifted = (moment: string, ms: number) => new Date(Date.parse(moment) + ms).toISOString();

describe('a search', () => {
  let developer: Developer;
  let [first, second]: App[] = [];
  let bot: { token_id: string; token: string };
  let all: Entry[];
  let middle: string;

  beforeAll(async () => {
    developer = await newDeveloper(api);
    first = await newApp(api, developer);
    clock.advance(10 * SECOND);
    middle = clock.now().toISOString();
    second = await newApp(api, developer);
    bot = await newApiToken(api, developer, ['write']);
    clock.advance(10 * SECOND);
    await api.call('PATCH', `/api/v2/dev/apps/${first.app_id}`, { paused: true }, { token: bot.token });
    all = await auditLog(api, developer);
  });

  test('without a filter has everything, newest first', () => {
    expect(all.map(({ action }) => action)).toEqual([
      'application.paused',
      'api_token.created',
      'application.created',
      'application.created',
      'developer.registered',
    ]);
    expect(all[0]).toEqual({
      audit_id: expect.stringMatching(/^aud_[0-9a-z]{26}$/),
      app_id: first!.app_id,
      actor: { kind: 'api_token', id: bot.token_id, address: '127.0.0.1' },
      action: 'application.paused',
      target: first!.app_id,
      data: { status_code: 'paused', changed: [] },
      created_at: clock.now().toISOString(),
    });
  });

  test.each<[string, () => string, number[]]>([
    ['app_id', () => `app_id=${first!.app_id}`, [0, 3]],
    ['app_id of none', () => 'app_id=app_absent', []],
    ['actor_id', () => `actor_id=${bot.token_id}`, [0]],
    ['actor_id of the developer', () => `actor_id=${developer.developerId}`, [1, 2, 3, 4]],
    ['action', () => 'action=application.created', [2, 3]],
    ['a part of an action', () => 'action=application', []],
    ['kind of actor', () => 'actor_kind=api_token', [0]],
    ['another kind of actor', () => 'actor_kind=service', []],
    ['prefix of an action', () => 'action_prefix=application.', [0, 2, 3]],
    ['a shorter prefix', () => 'action_prefix=ap', [0, 1, 2, 3]],
    ['a longer prefix', () => 'action_prefix=application.c', [2, 3]],
    ['another prefix', () => 'action_prefix=zebra', []],
    ['prefix and kind', () => 'action_prefix=ap&actor_kind=developer', [1, 2, 3]],
    ['prefix and time', () => `action_prefix=ap&since=${middle}`, [0, 1, 2]],
    ['prefix and application', () => `action_prefix=ap&app_id=${first!.app_id}`, [0, 3]],
    ['prefix and target', () => `action_prefix=application.&target=${bot.token_id}`, []],
    ['target', () => `target=${bot.token_id}`, [1]],
    ['address', () => 'address=127.0.0.1', [0, 1, 2, 3, 4]],
    ['address as mapped IPv6', () => 'address=::FFFF:127.0.0.1', [0, 1, 2, 3, 4]],
    ['another address', () => 'address=203.0.113.9', []],
    ['not an address', () => 'address=localhost', []],
    ['since', () => `since=${middle}`, [0, 1, 2]],
    ['until', () => `until=${middle}`, [3, 4]],
    ['since the millisecond after', () => `since=${shifted(middle, 1)}`, [0]],
    ['until the millisecond after', () => `until=${shifted(middle, 1)}`, [1, 2, 3, 4]],
    ['since the millisecond before', () => `since=${shifted(middle, -1)}`, [0, 1, 2]],
    ['until the millisecond before', () => `until=${shifted(middle, -1)}`, [3, 4]],
    ['since the beginning of time', () => 'since=0000-01-01T00:00:00Z', [0, 1, 2, 3, 4]],
    ['since its end', () => 'since=9999-12-31T23:59:59-23:59', []],
    ['until the beginning of time', () => 'until=0000-01-01T00:00:00Z', []],
    ['until its end', () => 'until=9999-12-31T23:59:59-23:59', [0, 1, 2, 3, 4]],
    ['since and until', () => `since=${middle}&until=${clock.now().toISOString()}`, [1, 2]],
    ['several at once', () => `app_id=${second!.app_id}&action=application.created&since=${middle}`, [2]],
    ['what contradicts itself', () => `app_id=${second!.app_id}&target=${first!.app_id}`, []],
    ['in SQL', () => `action=${encodeURIComponent("' or 1=1 --")}`, []],
  ])('by %s', async (_what, query, places) => {
    const { status, body } = await list(developer.token, `?${query()}`);
    expect(status).toBe(200);
    expect(body.data).toEqual(places.map((place) => all[place]));
  });

  test('is paginated, with and without filters', async () => {
    for (const [filter, wanted] of [
      ['', all],
      [`&actor_id=${developer.developerId}`, all.slice(1)],
      ['&action_prefix=a', all.slice(0, 4)],
    ] as const) {
      const seen: Entry[] = [];
      let cursor = '';
      do {
        const { body } = await list(developer.token, `?limit=2${filter}${cursor}`);
        expect(body.data.length).toBeLessThanOrEqual(2);
        seen.push(...body.data);
        cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
      } while (cursor !== '');
      expect(seen).toEqual(wanted);
    }
  });

  test('of another developer finds nothing with any filter or cursor', async () => {
    const stranger = await newDeveloper(api);
    const own = await auditLog(api, stranger);
    expect(own.map(({ action }) => action)).toEqual(['developer.registered']);
    for (const query of [
      `app_id=${first!.app_id}`,
      `actor_id=${developer.developerId}`,
      `target=${bot.token_id}`,
    ]) {
      expect((await list(stranger.token, `?${query}`)).body.data).toEqual([]);
    }
    const { next_cursor: cursor } = (await list(developer.token, '?limit=1')).body;
    for (const { actor } of (await list(stranger.token, `?cursor=${cursor}`)).body.data) {
      expect(actor.id).toBe(stranger.developerId);
    }
  });

  test.each([
    ['limit=0', 'query/limit'],
    ['cursor=nonsense', 'query/cursor'],
    ['since=yesterday', 'query/since'],
    ['until=2026-13-01T00:00:00Z', 'query/until'],
    ['app_id=', 'query/app_id'],
    ['unknown=x', 'query/unknown'],
  ])('%s is refused', async (query, pointer) => {
    expectFaults(await list(developer.token, `?${query}`), pointer);
  });
});

test('entries cannot be changed, deleted or truncated, not even in the database', async () => {
  const developer = await newDeveloper(api);
  const before = await auditLog(api, developer);
  expect(before).toHaveLength(1);
  const database = await connectTo(service.databaseUrl);
  for (const statement of [
    `update audit_log set action = 'nothing'`,
    'delete from audit_log',
    'truncate audit_log',
  ]) {
    await expect(database.query(statement)).rejects.toThrow(/never changed/);
  }
  expect(await auditLog(api, developer)).toEqual(before);
});

test('an entry is found by its time also after the clock was set back', async () => {
  const developer = await newDeveloper(api);
  clock.advance(-10 * SECOND);
  const begun = clock.now().toISOString();
  const app = await newApp(api, developer);
  const found = async (query: string) =>
    (await list(developer.token, `?action=application.created&${query}`)).body.data;
  expect(await found(`since=${begun}`)).toMatchObject([{ target: app.app_id, created_at: begun }]);
  expect(await found(`until=${shifted(begun, 1)}`)).toHaveLength(1);
  expect(await found(`until=${begun}`)).toEqual([]);
  clock.advance(10 * SECOND);
});

describe('a page of a long log', () => {
  const ENTRIES = 20_000;
  const developerId = 'dev_of_a_long_log';
  const begun = new Date('2026-01-01T00:00:00.000Z');
  const after = (minutes: number) => new Date(begun.getTime() + minutes * 60 * SECOND);
  const knex = createKnex({ client: 'pg' });

  beforeAll(async () => {
    let minute = 0;
    const newId = createNewId({ now: () => after(minute) }, systemRandom);
    const ids = Array.from({ length: ENTRIES }, (_, index) => {
      minute = index;
      return newId('aud');
    });
    const database = new pg.Client({ connectionString: service.databaseUrl });
    await database.connect();
    await database.query(
      `insert into audit_log
       select id, $1, 'app_usual', 'api_token', case n when 9 then 'tok_rare' else 'tok_usual' end,
         case n when 9 then '203.0.113.9' else '203.0.113.1' end,
         case n when 9 then 'user.banned' else 'user.updated' end, 'usr_' || n, '{}',
         $2::timestamptz + (n - 1) * interval '1 minute'
       from unnest($3::text[]) with ordinality as entry (id, n)`,
      [developerId, begun, ids],
    );
    await database.query('analyze audit_log');
    await database.end();
  });

  test.each<[string, AuditFilter, number]>([
    ['everything', {}, 21],
    ['a rare target', { target: 'usr_9' }, 1],
    ['a target of none', { target: 'usr_absent' }, 0],
    ['a rare action', { action: 'user.banned' }, 1],
    ['an action of none', { action: 'user.absent' }, 0],
    ['a frequent action', { action: 'user.updated' }, 21],
    ['a rare actor', { actorId: 'tok_rare' }, 1],
    ['an actor of none', { actorId: 'tok_absent' }, 0],
    ['a rare address', { address: '203.0.113.9' }, 1],
    ['an address of none', { address: '198.51.100.1' }, 0],
    ['an application of none', { appId: 'app_absent' }, 0],
    ['the future', { since: after(ENTRIES) }, 0],
    ['the last minutes', { since: after(ENTRIES - 5) }, 5],
    ['the first minutes', { until: after(5) }, 5],
    ['minutes in between', { since: after(9_000), until: after(9_005) }, 5],
    ['a frequent action in the future', { action: 'user.updated', since: after(ENTRIES) }, 0],
    ['a frequent actor long ago', { actorId: 'tok_usual', until: after(5) }, 5],
    ['a rare kind of actor', { actorKind: 'service' }, 0],
    ['a frequent kind of actor', { actorKind: 'api_token' }, 21],
    ['a frequent kind of actor and a rare action', { actorKind: 'api_token', action: 'user.banned' }, 1],
  ])('of %s is read off an index', async (_what, filter, found) => {
    const database = await connectTo(service.databaseUrl);
    const { sql, bindings } = listEntries(knex, developerId, filter, { before: undefined, limit: 21 })
      .toSQL()
      .toNative();
    const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, format json) ${sql}`,
      [...bindings],
    );
    const { Plan: limit } = rows[0]!['QUERY PLAN'][0];
    const [scan] = limit.Plans!;
    expect(limit['Actual Rows']).toBe(found);
    expect(scan).toMatchObject({ 'Node Type': 'Index Scan', 'Scan Direction': 'Backward' });
    // The clock may have been set back by a minute.
    expect(scan!['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(filter.until ? 1 : 0);
  });
});

describe('actions with a prefix in a long log', () => {
  const developerId = 'dev_of_many_actions';
  const knex = createKnex({ client: 'pg' });
  const explained = async (filter: AuditFilter) => {
    const database = await connectTo(service.databaseUrl);
    const query = listEntries(knex, developerId, filter, { before: undefined, limit: 21 });
    const { sql, bindings } = query.toSQL().toNative();
    const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, format json) ${sql}`,
      [...bindings],
    );
    return rows[0]!['QUERY PLAN'][0].Plan;
  };
  const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

  beforeAll(async () => {
    const database = new pg.Client({ connectionString: service.databaseUrl });
    await database.connect();
    await database.query(
      `insert into audit_log
       select 'aud_' || lpad(n::text, 26, '0'), $1, null, 'developer', $1, '203.0.113.1',
         (array['license.created', 'license.deleted', 'user.banned', 'user.updated'])[1 + n % 4], null, '{}', now()
       from generate_series(1, 20000) n`,
      [developerId],
    );
    // The oldest are those of the service.
    await database.query(
      `insert into audit_log
       select 'aud_' || lpad('0' || n::text, 26, '-'), $1, null, 'service', 'service', '',
         (array['license.created', 'user.banned'])[1 + n % 2], null, '{}', now()
       from generate_series(1, 200) n`,
      [developerId],
    );
    await database.query('analyze audit_log');
    await database.end();
  });

  test.each([
    [{ actionPrefix: 'license.' }, 21, 42],
    [{ actionPrefix: 'user' }, 21, 42],
    [{ actionPrefix: 'license.c' }, 21, 21],
    [{ actionPrefix: 'absent.' }, 0, 0],
    [{ actionPrefix: 'license.', actorKind: 'service' }, 21, 21],
    [{ actionPrefix: 'user.', actorKind: 'service' }, 21, 21],
    [{ actionPrefix: 'user.', actorKind: 'agent' }, 0, 0],
    [{ actionPrefix: '', actorKind: 'service' }, 21, 42],
    [{ actionPrefix: 'user.', actorKind: 'developer' }, 21, 42],
  ] as const)('%j is read off an index', async (filter, found, read) => {
    const plan = await explained(filter);
    expect(plan['Actual Rows']).toBe(found);
    const nodes = nodesOf(plan);
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    const entries = nodes.filter((node) => node['Node Type'] === 'Index Scan');
    const rows = entries.map((node) => node['Actual Rows'] * node['Actual Loops']);
    expect(Math.max(0, ...rows)).toBeLessThanOrEqual(read);
    // The end of the list of actions is a row without one.
    for (const node of nodes) expect(node['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(1);
  });
});

interface Plan {
  readonly 'Actual Loops': number;
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

test('a change that fails leaves no entry', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const before = await auditLog(api, developer);
  await api.call('PATCH', `/api/v2/dev/apps/${app.app_id}`, { status: 'active', paused: true }, app);
  await api.post(`/api/v2/dev/apps/${app.app_id}/bans`, { kind: 'user', username: 'unknown' }, app);
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}/bans/ban_absent`, undefined, app);
  await api.call('DELETE', '/api/v2/dev/tokens/tok_absent', undefined, app);
  expect(await auditLog(api, developer)).toEqual(before);
});

test('entries of an application outlive it', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { username } = await newUser(api, app);
  await ban(api, app, { kind: 'user', username });
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  const entries = await auditLog(api, developer, `&app_id=${app.app_id}`);
  expect(entries.map(({ action }) => action)).toEqual([
    'application.deleted',
    'user.banned',
    'application.created',
  ]);
});

test('INSUFFICIENT_SCOPE', async () => {
  const { token } = await newApiToken(api, await newDeveloper(api), ['read', 'write']);
  expectError(await list(token), 403, 'INSUFFICIENT_SCOPE');
});
