import { newApp, newDeveloper, newHwid, type App, type Developer } from '../../support/fixtures.ts';
import { DAY } from '../../support/clock.ts';
import { newReseller, type TestReseller } from '../../operations/support/resellers.ts';
import type { TestService } from '../../support/service.ts';

/** A developer with an application, users, licenses and statistics. */
export interface Account {
  readonly developer: Developer;
  readonly app: App;
  /** Has no users, no keys and no logins. */
  readonly emptyApp: App;
  readonly userId: string;
  readonly licenseId: string;
  /** Sells keys of the application. */
  readonly reseller: TestReseller;
}

const NAMES = [
  'ada',
  'grace.hopper',
  'linus',
  'margaret',
  'dennis',
  'barbara',
  'ken',
  'radia',
  'tim',
  'frances',
];

/** Creates the account through the API, and the statistics of two months in the database. */
export async function newAccount(service: TestService): Promise<Account> {
  const { api } = service;
  const developer = await newDeveloper(api);
  const { token } = developer;
  const app = await newApp(api, developer);
  const path = `/api/v2/dev/apps/${app.app_id}`;
  await app.patch({ name: 'Aurora Editor', tiers: ['Standard', 'Pro', 'Team'], minimum_version: '1.4.0' });
  const emptyApp = await newApp(api, developer);

  const keys = [
    ...(await app.keys(24, 'Standard')),
    ...(await app.keys(12, 'Pro', null)),
    ...(await app.keys(6, 'Team', 365)),
  ];
  const users: string[] = [];
  for (const [at, username] of NAMES.entries()) {
    const user = { username, password: 'a user password', hwid: newHwid() };
    await api.register(app.with(user));
    await api.activate(app.with({ username, license_key: keys[at * 3]! }));
    if (at % 3 !== 2) await api.login(app.with(user));
    else await api.login(app.with({ ...user, password: 'a wrong password' }));
  }
  const { body } = await api.call<{ data: { user_id: string; username: string }[] }>(
    'GET',
    `${path}/users`,
    undefined,
    { token },
  );
  for (const { user_id } of body.data) users.push(user_id);
  const userId = body.data.find(({ username }) => username === 'ada')!.user_id;
  await api.post(`${path}/users/${users[0]}/ban`, { reason: 'Shared account' }, { token });
  for (const [name, value] of [
    ['theme', 'dark'],
    ['language', 'en'],
    ['beta', 'yes'],
  ]) {
    await api.call('PUT', `${path}/users/${userId}/variables/${name}`, { value }, { token });
  }
  const listed = await api.call<{ data: { license_id: string; status: string }[] }>(
    'GET',
    `${path}/licenses?status=unused`,
    undefined,
    { token },
  );
  const [first, second, third] = listed.body.data;
  await api.call(
    'PATCH',
    `${path}/licenses/${first!.license_id}`,
    { note: 'Summer sale, batch 4' },
    { token },
  );
  await api.post(`${path}/licenses/${second!.license_id}/ban`, { reason: 'Charged back' }, { token });
  await api.post(`${path}/licenses/${third!.license_id}/pause`, undefined, { token });
  await writeStatistics(service, app.app_id);
  const reseller = await newReseller(api, app, { commission_margin: 20, balance: 250, price: 12.5 });
  return { developer, app, emptyApp, userId, licenseId: first!.license_id, reseller };
}

/** Two months of numbers that rise and fall with the week. */
async function writeStatistics({ database, clock }: TestService, appId: string): Promise<void> {
  const rows = Array.from({ length: 60 }, (_, ago) => {
    const day = new Date(clock.now().getTime() - (ago + 1) * DAY).toISOString().slice(0, 10);
    const logins = Math.round(60 + 25 * Math.sin(ago / 1.1) + (60 - ago) * 0.9);
    const row = (metric: string, dimension: string, value: string, count: number) => ({
      app_id: appId,
      day,
      metric,
      dimension,
      value,
      count,
    });
    return [
      row('users_created', 'total', '', 1 + (ago % 5)),
      row('logins', 'total', '', logins),
      row('logins', 'tier', 'Pro', Math.round(logins * 0.6)),
      row('logins', 'tier', 'Standard', Math.round(logins * 0.3)),
      row('logins', 'tier', '', Math.round(logins * 0.1)),
      row('logins', 'version', '1.4.0', Math.round(logins * 0.7)),
      row('logins', 'version', '1.3.2', Math.round(logins * 0.3)),
      row('activations', 'total', '', ago % 4),
      row('live_sessions', 'total', '', 4 + (ago % 7)),
    ];
  }).flat();
  await database.knex('daily_statistics').insert(rows).onConflict().ignore();
}
