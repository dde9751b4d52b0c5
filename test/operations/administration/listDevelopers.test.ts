import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { listDevelopers } from '../../../src/accounts/developers/developer-directory-store.ts';
import { ADMINISTRATOR, buy, sellPlan } from '../../support/billing.ts';
import { newApp, newDeveloper, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { suspend } from '../support/developer-accounts.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api, clock, database } = await startTestService();

const list = (query = '', token = ADMINISTRATOR.token) =>
  api.call<components['schemas']['AdminDeveloperList']>(
    'GET',
    `/api/v2/admin/developers${query}`,
    undefined,
    {
      token,
    },
  );
const idsOf = async (query: string) => (await list(query)).body.data.map(({ developer_id }) => developer_id);
const named = async (email: string, name?: string) => {
  const body = { email, password: 'a developer password', ...(name !== undefined && { name }) };
  const { body: session } = await api.post<{ developer_id: string }>('/api/v2/dev/register', body);
  return session.developer_id;
};

test('shows developers, newest first, in pages', async () => {
  const first = await newDeveloper(api);
  await newApp(api, first);
  const second = await newDeveloper(api);
  const { body } = await list('?limit=1');
  expect(body.data.map(({ developer_id }) => developer_id)).toEqual([second.developerId]);
  const next = await list(`?limit=1&cursor=${body.next_cursor}`);
  expect(next.body.data).toEqual([
    {
      developer_id: first.developerId,
      email: first.email,
      email_verified: false,
      name: null,
      account_status: 'active',
      suspended_at: null,
      plan: { id: 'free', name: 'Free' },
      apps: 1,
      created_at: clock.now().toISOString(),
    },
  ]);
});

test('finds the beginning of an address or a name, in any case', async () => {
  const one = await named('Hopper.1@Example.com', 'Zoe');
  const two = await named('someone@example.org', 'HOPPER the Second');
  const three = await named('hoppe@example.org', '100% _sure_');
  expect(await idsOf('?q=hopper')).toEqual([two, one]);
  expect(await idsOf('?q=HOPPER.')).toEqual([one]);
  expect(await idsOf('?q=hopper%20the')).toEqual([two]);
  expect(await idsOf('?q=hoppe')).toEqual([three, two, one]);
  expect(await idsOf('?q=100%25%20_')).toEqual([three]);
  expect(await idsOf('?q=%25')).toEqual([]);
  expect(await idsOf('?q=opper')).toEqual([]);
});

test('filters by plan and by suspension', async () => {
  const developer = await newDeveloper(api);
  const plan = await sellPlan(api);
  await buy(api, developer, plan);
  expect(await idsOf(`?plan_id=${plan.plan_id}`)).toEqual([developer.developerId]);
  expect(await idsOf('?plan_id=plan_absent')).toEqual([]);
  expect(await idsOf('?suspended=true')).toEqual([]);
  await suspend(api, developer.developerId);
  expect(await idsOf('?suspended=true')).toEqual([developer.developerId]);
  expect(await idsOf(`?plan_id=${plan.plan_id}&suspended=false`)).toEqual([]);
  expect(await idsOf('?suspended=false')).not.toContain(developer.developerId);
});

test('reads pages of many developers off indexes', async () => {
  const { knex } = database;
  const prefix = unique('many');
  await knex.raw(
    `insert into developers (developer_id, email, email_key, name, password_hash, plan_id, created_at)
     select 'dev_0' || lpad(n::text, 25, '0'), :prefix || n || '@example.com', :prefix || n || '@example.com',
       'Developer ' || n, '', 'free', now() from generate_series(1, 20000) n`,
    { prefix },
  );
  await knex.raw('analyze developers');
  const plansOf = async (condition: Parameters<typeof listDevelopers>[1]) => {
    const plans: string[] = [];
    const queries: { sql: string; bindings: readonly unknown[] }[] = [];
    const note = (query: { sql: string; bindings: readonly unknown[] }) => queries.push(query);
    knex.on('query', note);
    await listDevelopers(knex, condition, { before: undefined, limit: 21 });
    knex.off('query', note);
    for (const { sql, bindings } of queries.filter(({ sql }) => sql.includes('developers'))) {
      const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [...bindings]);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    return plans;
  };
  for (const condition of [
    {},
    { beginning: `${prefix}1999` },
    { beginning: 'developer 1999' },
    { beginning: 'developer' },
    { planId: 'free' },
    { planId: 'plan_absent' },
    { suspended: true },
    { suspended: false },
  ]) {
    for (const plan of await plansOf(condition)) expect(plan).not.toContain('Seq Scan');
  }
});

test('VALIDATION_FAILED and UNAUTHORIZED', async () => {
  expectFaults(await list('?q='), 'query/q');
  expectFaults(await list('?suspended=maybe'), 'query/suspended');
  expectFaults(await list('?cursor=nonsense'), 'query/cursor');
  const { token } = await newDeveloper(api);
  expectError(await list('', token), 401, 'UNAUTHORIZED');
});
