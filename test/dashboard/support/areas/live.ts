import { ban } from '../../../support/fixtures.ts';
import type { Account } from '../account.ts';
import { appPath, type Area, type DashboardRoute } from '../area.ts';

const routes: readonly DashboardRoute[] = [
  { name: 'events', path: (account) => `${appPath(account)}/events`, shows: 'Every change in this' },
  {
    name: 'events, none',
    path: (account) => `${appPath(account)}/events?type=webhook.disabled`,
    shows: 'No event matches',
  },
  { name: 'events of the account', path: () => '/events', shows: 'Every change in all' },
  { name: 'live sessions', path: (account) => `${appPath(account)}/sessions`, shows: 'grace.hopper' },
  { name: 'bans', path: (account) => `${appPath(account)}/bans`, shows: '198.51.100.0/24' },
  {
    name: 'bans, creating',
    path: (account) => `${appPath(account)}/bans?create=yes`,
    shows: 'It is in force at once',
  },
];

/** Events, live sessions and bans. */
export const live: Area = {
  routes,
  async prepare({ api, database, clock }, { app, userId }: Account) {
    await ban(api, app, { kind: 'network', network: '198.51.100.0/24', reason: 'Card testing' });
    await ban(api, app, { kind: 'hardware', username: 'ken', reason: `Resold keys ${'again '.repeat(40)}` });
    await ban(api, app, {
      kind: 'user',
      username: 'tim',
      expires_at: new Date(clock.now().getTime() + 86_400_000).toISOString(),
    });
    // As if the login came from elsewhere, with a program that has a long version.
    await database.knex('sessions').where({ user_id: userId }).update({ address: '203.0.113.77' });
  },
};
