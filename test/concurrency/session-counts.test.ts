import type pg from 'pg';
import { expect, test } from 'vitest';
import { countLiveSessionsOfApplications } from '../../src/licensing/sessions/session-count-store.ts';
import { connectTo } from '../support/database.ts';
import { newApp, newUser, type App, type User } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { shuffled } from './load.ts';

const first = await startTestService();
const { api, clock, databaseUrl, services } = first;
const second = await startTestService({ DATABASE_URL: databaseUrl });
const { knex } = first.database;

/** The counted live sessions of applications, and the same counted from the sessions, at one moment. */
function compare(apps: readonly App[], now: Date): Promise<{ counted: object; actual: object }> {
  const appIds = apps.map(({ app_id }) => app_id);
  return knex.transaction(
    async (trx) => {
      const counted = await services.sessions.countLiveOfApplications(trx, appIds, now);
      const { rows } = await trx.raw<{ rows: { app_id: string; live: number }[] }>(
        `select a.app_id, count(s.app_id)::int as live from unnest(?::text[]) a (app_id) left join sessions s
           on s.app_id = a.app_id and s.ended_at is null and s.expires_at > ? group by 1`,
        [appIds, now],
      );
      return {
        counted: Object.fromEntries(counted),
        actual: Object.fromEntries(rows.map(({ app_id, live }) => [app_id, live])),
      };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

const minutes = (count: number) => new Date(clock.now().getTime() + count * 60_000);
const fold = async () => {
  while ((await services.sessions.foldCounts()) > 0);
};

test('counts of live sessions are exact at every moment of logins, ends, deletions, folding and expiry', async () => {
  const apps = [await newApp(api), await newApp(api)];
  const users: [App, User][] = [];
  for (const app of apps) for (let n = 0; n < 4; n += 1) users.push([app, await newUser(api, app)]);
  const login = async ([app, user]: [App, User], turn: number) => {
    const { body } = await [first, second][turn % 2]!.api.login(app.with(user));
    if (turn % 3 === 0) await api.logout({ app_id: app.app_id, token: body.token });
  };
  for (let round = 0; round < 2; round += 1) {
    // More than a user may have, so that logins end sessions too.
    const work = shuffled(users.flatMap((user) => [0, 1, 2, 3].map((turn) => () => login(user, turn))));
    const isOver = { yet: false };
    const watching = (async () => {
      while (!isOver.yet) {
        const { counted, actual } = await compare(apps, clock.now());
        expect(counted).toEqual(actual);
        await services.sessions.foldCounts();
      }
    })();
    await Promise.all(work.map((run) => run()));
    isOver.yet = true;
    await watching;
    clock.advance(7 * 60_000 + 13_250);
  }
  const day = 24 * 60;
  for (const later of [0, day - 30, day - 21, day - 14.5, day - 7.22, day - 7, day - 0.01, day + 1]) {
    const { counted, actual } = await compare(apps, minutes(later));
    expect([later, counted]).toEqual([later, actual]);
  }
  await api.call(
    'DELETE',
    `/api/v2/dev/apps/${apps[0]!.app_id}/users/${await firstUser(apps[0]!)}`,
    undefined,
    apps[0],
  );
  expect((await compare(apps, clock.now())).counted).toEqual((await compare(apps, clock.now())).actual);
  clock.advance(8 * day * 60_000);
  while ((await services.sessions.clearExpired()) > 0);
  await fold();
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    'select * from session_counts union all select * from session_count_changes',
  );
  expect(rows).toEqual([]);
});

async function firstUser(app: App): Promise<string> {
  const row = await knex('users').where({ app_id: app.app_id }).first<{ user_id: string }>('user_id');
  return row.user_id;
}

test('a migration of a database with sessions counts those, also while others begin', async () => {
  const app = await newApp(api);
  await api.login(app.with(await newUser(api, app)));
  await knex('session_count_changes').delete();
  await knex('session_counts').delete();
  await api.login(app.with(await newUser(api, app)));
  const { up } = await import('../../src/migrations/20261126040010_count_earlier_sessions.ts');
  await up(knex);
  await up(knex);
  const { counted } = await compare([app], clock.now());
  expect(counted).toEqual({ [app.app_id]: 2 });
});

/** All nodes of a plan. */
interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

test('counting 20,000 live sessions looks at those of one minute', async () => {
  const app = await newApp(api);
  await newUser(api, app);
  await knex.raw(
    `insert into sessions (session_digest, token_digest, app_id, user_id, hwid_digest, created_at, expires_at)
     select decode(md5('s' || n), 'hex'), decode(md5('t' || n), 'hex'), u.app_id, u.user_id, '\\x00', ?::timestamptz,
       ?::timestamptz + n * interval '0.864 seconds'
     from users u, generate_series(1, 20000) n where u.app_id = ?`,
    [clock.now(), clock.now(), app.app_id],
  );
  await fold();
  await knex.raw('analyze sessions; analyze session_counts');
  const client = await connectTo(databaseUrl);
  const visited = new Map<string, number>();
  const explaining = {
    raw: async (sql: string, values: object) => {
      const { sql: text, bindings } = knex
        .raw(sql, values as never)
        .toSQL()
        .toNative();
      const { rows } = (await client.query(`explain (analyze, format json) ${text}`, [
        ...bindings,
      ])) as pg.QueryResult<{
        'QUERY PLAN': [{ Plan: Plan }];
      }>;
      for (const node of nodesOf(rows[0]!['QUERY PLAN'][0].Plan)) {
        const table = node['Relation Name'];
        if (table === undefined) continue;
        const each = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
        visited.set(table, (visited.get(table) ?? 0) + each * node['Actual Loops']);
      }
      return { rows: [] };
    },
  };
  await countLiveSessionsOfApplications(explaining as never, [app.app_id], clock.now());
  expect(visited.get('sessions')).toBeLessThan(100);
  expect(visited.get('session_counts')).toBeLessThan(1_500);
  const { counted } = await compare([app], minutes(1));
  expect(Object.values(counted)).toEqual([20_000 - 69]);
});
