import type { Handler } from '../handler.ts';
import { toCodes, toHourly, toTiers, toVersions } from './series.ts';

export const getStatistics: Handler<'getStatistics'> = async ({ path, query, actor }, { statistics }) => {
  const found = await statistics.read(actor.developerId, path.app_id, query);
  const { days, users, logins, activations, liveSessions, refusedLogins, hourly } = found;
  return {
    status: 200,
    body: {
      status: 'success',
      from: days[0]!,
      to: days.at(-1)!,
      days: [...days],
      series: {
        users: { new: [...users.new], deleted: [...users.deleted], total: [...users.total] },
        logins: {
          total: [...logins.total],
          by_tier: toTiers(logins.byTier),
          by_version: toVersions(logins.byVersion),
          other_versions: [...logins.otherVersions],
        },
        activations: { total: [...activations.total], by_tier: toTiers(activations.byTier) },
        live_sessions: [...liveSessions],
        active_users: [...found.activeUsers],
        refused_logins: { total: [...refusedLogins.total], by_code: toCodes(refusedLogins.byCode) },
      },
      ...(hourly && { hourly: toHourly(hourly) }),
    },
  };
};
