import type { Handler } from '../handler.ts';
import { toLicenseCounts } from './license-counts.ts';

export const getApplicationCounts: Handler<'getApplicationCounts'> = async (
  { path, actor },
  { statistics },
) => {
  const { users, liveSessions, licenses } = await statistics.counts(actor.developerId, path.app_id);
  return {
    status: 200,
    body: {
      status: 'success',
      users,
      live_sessions: liveSessions,
      licenses: toLicenseCounts(licenses),
      licenses_by_tier: licenses.byTier.map((counts) => ({ tier: counts.tier, ...toLicenseCounts(counts) })),
    },
  };
};
