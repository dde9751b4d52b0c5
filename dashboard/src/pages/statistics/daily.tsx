import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { Stat, Stats } from '../../components/stat.tsx';
import { isToday } from '../../lib/days.ts';
import { formatDay, formatDayOfYear, plural } from '../../lib/format.ts';
import { Columns } from '../../shell/page.tsx';
import { Breakdown } from './breakdown.tsx';
import { comparedLast, comparedSum } from '../../lib/period.ts';
import { sum } from '../../lib/sum.ts';

type Series = Schemas['StatisticsSeries'];

type Read = (series: Series) => readonly number[];

interface Props {
  readonly series: Series;
  /** The same number of days before, once they are known. */
  readonly before: Series | undefined;
  readonly days: number;
}

/** The numbers of a period against those of the period before. */
export function Numbers({ series, before, days }: Props) {
  const of = (read: Read) => [...(before ? read(before) : []), ...read(series)];
  const period = `in the last ${days} days`;
  const refused = comparedSum(series.refused_logins?.total ?? [], days);
  const sumOf = (read: Read) => comparedSum(of(read), days);
  const lastOf = (read: Read) => comparedLast(of(read), days);
  return (
    <Stats days={days}>
      <Stat label="Users" {...lastOf(({ users }) => users.total)} note="now" />
      <Stat label="Live sessions" {...lastOf(({ live_sessions }) => live_sessions)} note="now" />
      <Stat label="Logins" {...sumOf(({ logins }) => logins.total)} note={period} />
      <Stat label="New users" {...sumOf(({ users }) => users.new)} note={period} />
      <Stat label="Activations" {...sumOf(({ activations }) => activations.total)} note={period} />
      {/* More of them is not better, so there is no comparison in green. */}
      <Stat label="Refused logins" value={refused.value} note={period} />
    </Stats>
  );
}

const byTier = (tiers: Schemas['CountsByTier']) =>
  tiers.map(({ tier, counts }) => ({ label: tier ?? 'No subscription', values: counts }));

const byVersion = ({ by_version, other_versions }: Schemas['LoginSeries']) => [
  ...by_version.map(({ version, counts }) => ({ label: version ?? 'Not sent', values: counts })),
  { label: 'Others', values: other_versions },
];

const byCode = (refused: Schemas['RefusedLoginSeries'] | undefined) =>
  (refused?.by_code ?? []).map(({ code, counts }) => ({ label: code, values: counts }));

/** A plot of each series, by day. */
export function DailyCharts({ days, series }: Pick<Schemas['StatisticsResult'], 'days' | 'series'>) {
  const shown = useMemo(() => {
    const { users, logins, activations, live_sessions, active_users, refused_logins } = series;
    return {
      labels: days.map(days.length > 90 ? formatDayOfYear : formatDay),
      byTier: byTier(logins.by_tier),
      byVersion: byVersion(logins),
      activationsByTier: byTier(activations.by_tier),
      byCode: byCode(refused_logins),
      refused: refused_logins?.total ?? [],
      users: [{ label: 'Users', values: users.total }],
      newUsers: [
        { label: 'New users', values: users.new },
        { label: 'Deleted users', values: users.deleted },
      ],
      sessions: [{ label: 'Live sessions', values: live_sessions }],
      active: [{ label: 'Active users', values: active_users ?? [] }],
    };
  }, [days, series]);
  const common = { labels: shown.labels, isRunning: isToday(days.at(-1)) };
  const { logins, users, activations, live_sessions } = series;
  return (
    <Columns>
      <Breakdown
        title="Logins by tier"
        unit="login"
        total={sum(logins.total)}
        {...common}
        parts={shown.byTier}
        all={logins.total}
      />
      <Breakdown
        title="Logins by version"
        unit="login"
        total={sum(logins.total)}
        {...common}
        parts={shown.byVersion}
        all={logins.total}
      />
      <Chart title="Users" total={plural(users.total.at(-1) ?? 0, 'user')} {...common} series={shown.users} />
      <Chart
        title="New and deleted users"
        total={plural(sum(users.new), 'new user')}
        {...common}
        series={shown.newUsers}
      />
      <Chart
        title="Active users"
        note="Different users who logged in, for each day in UTC."
        {...common}
        series={shown.active}
      />
      <Breakdown
        title="Refused logins by code"
        unit="refused login"
        total={sum(shown.refused)}
        {...common}
        parts={shown.byCode}
        all={shown.refused}
      />
      <Breakdown
        title="Activations by tier"
        unit="activation"
        total={sum(activations.total)}
        {...common}
        parts={shown.activationsByTier}
        all={activations.total}
      />
      <Chart
        title="Live sessions"
        total={plural(live_sessions.at(-1) ?? 0, 'live session')}
        note="At the end of each day, in UTC."
        {...common}
        series={shown.sessions}
      />
    </Columns>
  );
}
