import { expect, test } from 'vitest';
import { newApp, newDeveloper, newHwid, unique, type App } from '../support/fixtures.ts';
import { ADMIN_TOKEN } from '../support/service.ts';
import { patiently, tally } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses();
const { client, sql } = two;
const [{ api }] = two.services;

/** Different names that people would take for the same. */
const alike = (name: string) => [
  name,
  name.toUpperCase(),
  name.replace('a', 'а'),
  name.replace('e', 'е'),
  name.replace('o', 'ο'),
  `${name} `,
  name.replace('o', 'ｏ'),
  name.replace('p', 'р'),
];

/** Sends every name to both processes concurrently, a few times. */
const race = <Result>(names: readonly string[], send: (name: string, turn: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: 2 * names.length }, (_, turn) => send(names[turn % names.length]!, turn)));

const users = (app: App) =>
  sql<{ username: string }>('select username from users where app_id = $1', [app.app_id]);

test('of look-alike usernames that are registered, created and imported at once, one is accepted', async () => {
  const app = await newApp(api);
  const path = `/api/v2/dev/apps/${app.app_id}/users`;
  const name = 'pea-copa';
  const registered = race(alike(name), (username, turn) =>
    patiently(() =>
      client(turn).post(
        '/api/v1/client/register',
        app.with({ username, password: 'a user password', hwid: newHwid() }),
      ),
    ),
  );
  const created = race(alike(name), (username, turn) =>
    patiently(() => client(turn).post(path, { username, password: 'a user password' }, app.token)),
  );
  const imported = race(alike(name), (username, turn) =>
    patiently(() =>
      client(turn).call('POST', `${path}/import`, `username\n"${username}"\nother-${turn}\n`, {
        token: app.token,
        headers: { 'content-type': 'text/csv' },
      }),
    ),
  );
  const responses = (await Promise.all([registered, created, imported])).flat();
  expect(tally(responses)).toEqual({ 201: 1, '409 USERNAME_TAKEN': 47 });
  const taken = (await users(app)).filter(({ username }) => !username.startsWith('other-'));
  expect(taken).toHaveLength(1);
});

test('of look-alike plans that are created at once, one exists', async () => {
  const name = unique('pea-cop');
  const made = await race(alike(name), (each, turn) =>
    client(turn).post('/api/v2/admin/plans', { name: each, price: 5 }, ADMIN_TOKEN),
  );
  expect(tally(made)).toEqual({ 201: 1, '409 PLAN_NAME_TAKEN': 15 });
});

test('plans that are renamed to look-alike names and archived at once end with one of the names', async () => {
  const name = unique('pea-cop');
  const plans = await Promise.all(
    alike(name).map(async () => {
      const response = await client(0).post(
        '/api/v2/admin/plans',
        { name: unique('x'), price: 5 },
        ADMIN_TOKEN,
      );
      return String(response.body['id'] ?? response.body['plan_id']);
    }),
  );
  const [ended, priced] = [plans[0]!, plans[1]!];
  const path = (plan: string) => `/api/v2/admin/plans/${plan}`;
  const others = [
    ...Array.from({ length: 10 }, (_, turn) =>
      client(turn).call('PATCH', path(priced), { price: 7 + turn }, ADMIN_TOKEN),
    ),
    client(1).call('DELETE', path(ended), undefined, ADMIN_TOKEN),
  ];
  const renamed = await Promise.all(
    plans
      .slice(1)
      .map((plan, turn) => client(turn).call('PATCH', path(plan), { name: alike(name)[turn] }, ADMIN_TOKEN)),
  );
  expect(tally(renamed)).toEqual({ 200: 1, '409 PLAN_NAME_TAKEN': 6 });
  expect(tally(await Promise.all(others))).toEqual({ 200: 11 });
});

test('of look-alike tiers that are added at once, one exists', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const path = `/api/v2/dev/apps/${app.app_id}`;
  const tiers = alike('Pea-cop');
  const responses = await race(tiers, (tier, turn) =>
    client(turn).call('PATCH', path, { tiers: ['Standard', tier] }, app.token),
  );
  expect(tally(responses)).toEqual({ 200: 16 });
  const [row] = await sql<{ tiers: string[] }>('select tiers from applications where app_id = $1', [
    app.app_id,
  ]);
  expect(row!.tiers).toHaveLength(2);
  const both = await race(tiers, (tier, turn) =>
    client(turn).call(
      'PATCH',
      path,
      { tiers: [...row!.tiers, tier === row!.tiers[1] ? `${tier} ` : tier] },
      app.token,
    ),
  );
  expect(tally(both)).toEqual({ '400 VALIDATION_FAILED': 16 });
});
