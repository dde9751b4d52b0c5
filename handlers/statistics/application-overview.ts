import type { components } from '../../generated/types.ts';
import type { ApplicationOverview } from '../../src/licensing/statistics/statistics.ts';
import { toLicenseCounts } from './license-counts.ts';

/** An application of an overview as the contract shows it. */
export function toApplicationOverview(
  application: ApplicationOverview,
): components['schemas']['ApplicationOverview'] {
  return {
    app_id: application.appId,
    name: application.name,
    status_code: application.status,
    created_at: application.createdAt.toISOString(),
    users: application.users,
    live_sessions: application.liveSessions,
    licenses: toLicenseCounts(application.licenses),
    refused_logins_today: application.refusedLoginsToday,
    series: { logins: [...application.logins], new_users: [...application.newUsers] },
  };
}
