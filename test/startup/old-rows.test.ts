import { readdir } from 'node:fs/promises';
import type { Knex } from 'knex';
import { expect, test } from 'vitest';
import { migrate } from '../../src/migrations/index.ts';
import { openDatabase } from '../../src/platform/database/index.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { sellPlan, ADMINISTRATOR } from '../support/billing.ts';
import { createTestDatabase } from '../support/database.ts';
import { newApp, newDeveloper, newUser, unique } from '../support/fixtures.ts';
import { newClient } from '../support/oauth.ts';
import { startTestService } from '../support/service.ts';

/** The last migration of the version before names had to be visible. */
const BEFORE = '20261124000020';
const MIGRATIONS = new URL('../../src/migrations/', import.meta.url);

/** Reverts the schema. @returns the names of the migrations that must run again */
async function takeBack(knex: Knex): Promise<string[]> {
  const files = (await readdir(MIGRATIONS)).filter((name) => /^\d/.test(name) && name.slice(0, 14) > BEFORE);
  const names = files.map((name) => name.replace('.ts', '')).sort();
  for (const name of names.toReversed()) {
    const { down } = (await import(new URL(`${name}.ts`, MIGRATIONS).href)) as {
      down: (knex: Knex) => Promise<void>;
    };
    await down(knex);
    expect(await knex('schema_migrations').where({ name }).delete()).toBe(1);
  }
  return names;
}

async function countRows(knex: Knex): Promise<Record<string, number>> {
  const { rows } = await knex.raw<{ rows: { name: string; rows: number }[] }>(
    `select table_name as name, (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I', table_name),
       false, true, '')))[1]::text::int as rows
     from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
       and table_name not in ('schema_migrations', 'nodes')`,
  );
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}

test('rows that current rules would refuse survive migrations, can be read, and can be changed', async () => {
  const DATABASE_URL = await createTestDatabase();
  const old = await startTestService({ DATABASE_URL });
  const developer = await newDeveloper(old.api);
  const app = await newApp(old.api, developer);
  const users = await Promise.all(Array.from({ length: 5 }, () => newUser(old.api, app)));
  const client = await newClient(old.api, developer, { application_type: 'native' });
  const plans = [await sellPlan(old.api), await sellPlan(old.api), await sellPlan(old.api)];
  await old.stop();

  const open = () =>
    openDatabase({ databaseUrl: DATABASE_URL, dataDir: 'unused', logger: createLogger('silent') });
  const [database, other] = [await open(), await open()];
  const { knex } = database;
  const toRun = await database.withStatementTimeout(0, (patient) => takeBack(patient.knex));

  const names = ['admin', 'аdmin', 'admin\u2800', '\u2800', 'ad\ufffdmin'];
  for (const [place, { username }] of users.entries())
    await knex('users').where({ username }).update({ username: names[place], username_key: names[place] });
  const tiers = ['Pro', 'PRO', 'Pro ', 'Café', 'Cafe\u0301', 'Рro', '\u3164'];
  await knex('applications').update({ name: '\u3164', tiers: knex.raw('?::text[]', [tiers]) });
  const uris = ['ms-msdt:/id', 'https://a;script-src/cb', 'https://*/cb'];
  await knex('oauth_clients').update({
    name: '\ufffc',
    metadata: knex.raw(`metadata || ?::jsonb`, [
      JSON.stringify({ redirect_uris: uris, post_logout_redirect_uris: uris }),
    ]),
  });
  const team = unique('Team');
  const planNames = [team, team.toUpperCase(), `${team} `];
  for (const [place, { plan_id }] of plans.entries())
    await knex('plans').where({ plan_id }).update({ name: planNames[place] });
  const event = { app_id: app.app_id, type: 'application.updated', created_at: new Date() };
  await knex('events').insert(['null', '{}'].map((data) => ({ ...event, event_id: unique('evt'), data })));
  const before = await countRows(knex);

  const ran = await Promise.all(
    [database, other].map((each) => each.withStatementTimeout(0, (patient) => migrate(patient.knex))),
  );
  expect(ran.flat().toSorted()).toEqual(toRun);
  expect(await countRows(knex)).toMatchObject(before);
  const { rows: invalid } = await knex.raw<{ rows: unknown[] }>('select from pg_index where not indisvalid');
  expect(invalid).toEqual([]);
  await Promise.all([database.close(), other.close()]);

  // The client checks every response against the contract.
  const { api } = await startTestService({ DATABASE_URL });
  const at = `/api/v2/dev/apps/${app.app_id}`;
  const edit = (path: string, changes: object, token = developer.token) =>
    api.call('PATCH', path, changes, { token });
  for (const [place, user] of users.entries()) {
    const username = names[place]!;
    const { status, body } = await api.login(app.with({ ...user, username }));
    expect({ status, username: body.user?.username }).toEqual({ status: 200, username });
    expect(await edit(`${at}/users/${body.user!.id}`, { role: 'tester' })).toMatchObject({ status: 200 });
  }
  for (const list of ['users', 'licenses', 'events', 'users/export']) {
    expect((await api.call('GET', `${at}/${list}`, undefined, developer)).status).toBe(200);
  }
  expect(await edit(at, { tiers: tiers.toReversed() })).toMatchObject({
    status: 200,
    body: { name: '\u3164', tiers: tiers.toReversed(), bind_responses: false },
  });
  expect(await edit(`/api/v2/dev/oauth-clients/${client.client_id}`, { name: 'Better' })).toMatchObject({
    status: 200,
    body: { name: 'Better', redirect_uris: uris },
  });
  for (const [place, { plan_id }] of plans.entries()) {
    const path = `/api/v2/admin/plans/${plan_id}`;
    expect(await edit(path, { price: 7 }, ADMINISTRATOR.token)).toMatchObject({
      status: 200,
      body: { name: planNames[place] },
    });
  }
  await expect
    .poll(async () => (await api.health()).body.message)
    .toBe('operational, 1 events are set aside');
}, 60_000);
