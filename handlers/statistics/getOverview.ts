import type { Handler } from '../handler.ts';
import { toApplicationOverview } from './application-overview.ts';
import { toLicenseCounts } from './license-counts.ts';

export const getOverview: Handler<'getOverview'> = async ({ query, actor }, { statistics }) => {
  const { limit, cursor } = query;
  const overview = await statistics.overview(actor.developerId, { limit, cursor });
  const { quotas, totals, hasLogin, days, data, nextCursor } = overview;
  return {
    status: 200,
    body: {
      status: 'success',
      quotas: { apps: quotas.apps, users_per_app: quotas.usersPerApp, licenses: quotas.licenses },
      totals: {
        applications: totals.applications,
        users: totals.users,
        live_sessions: totals.liveSessions,
        licenses: toLicenseCounts(totals.licenses),
        logins_today: totals.loginsToday,
        new_users_today: totals.newUsersToday,
        refused_logins_today: totals.refusedLoginsToday,
      },
      get_started: {
        application: totals.applications > 0,
        license: totals.licenses.total > 0,
        user: totals.users > 0,
        login: hasLogin,
      },
      days: [...days],
      data: data.map(toApplicationOverview),
      next_cursor: nextCursor,
    },
  };
};
