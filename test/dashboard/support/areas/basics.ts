import type { Account } from '../account.ts';
import { appPath, type Area, type DashboardRoute } from '../area.ts';

const routes: readonly DashboardRoute[] = [
  { name: 'overview', path: () => '', shows: 'Aurora Editor' },
  { name: 'statistics', path: appPath, shows: 'Logins by version' },
  {
    name: 'statistics of 90 days',
    path: (account) => `${appPath(account)}?days=90`,
    shows: 'Logins by version',
  },
  {
    name: 'statistics, no login yet',
    path: ({ emptyApp }) => `/apps/${emptyApp.app_id}`,
    shows: 'guide to client programs',
  },
  { name: 'licenses', path: (account) => `${appPath(account)}/licenses`, shows: 'redeem for time in a tier' },
  {
    name: 'licenses, none',
    path: (account) => `${appPath(account)}/licenses?q=none`,
    shows: 'No license matches',
  },
  {
    name: 'licenses, creating',
    path: (account) => `${appPath(account)}/licenses?create=yes`,
    shows: 'Number of keys',
  },
  {
    name: 'a license',
    path: (account) => `${appPath(account)}/licenses?license=${account.licenseId}`,
    shows: 'Identifier',
  },
  { name: 'users', path: (account) => `${appPath(account)}/users`, shows: 'grace.hopper' },
  {
    name: 'users, creating',
    path: (account) => `${appPath(account)}/users?create=yes`,
    shows: 'Password (optional)',
  },
  { name: 'a user', path: (account) => `${appPath(account)}/users/${account.userId}`, shows: 'Subscription' },
  ...['sessions', 'variables', 'events'].map((tab) => ({
    name: `the ${tab} of a user`,
    path: (account: Account) => `${appPath(account)}/users/${account.userId}?tab=${tab}`,
    shows: { sessions: 'Machine', variables: 'theme', events: 'user.created' }[tab]!,
  })),
  { name: 'settings', path: (account) => `${appPath(account)}/settings`, shows: 'Bind users to one machine' },
  { name: 'an unknown page', path: () => '/nowhere', shows: 'Page not found' },
];

/** Overview, statistics, licenses, users and settings. */
export const basics: Area = { routes };
