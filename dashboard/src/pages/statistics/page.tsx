import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../components/badge.tsx';
import { buttonClass } from '../../components/button.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Select } from '../../components/field.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { lastDays } from '../../lib/days.ts';
import { useChangeSearch } from '../../lib/change-search.ts';
import { useLast } from '../../lib/last.ts';
import { PERIODS } from '../../lib/period.ts';
import { oneOf } from '../../lib/search.ts';
import { AppId } from '../../shell/app-id.tsx';
import { Columns, Page, Stack } from '../../shell/page.tsx';
import { useApplication } from '../../shell/queries.ts';
import { DailyCharts, Numbers } from './daily.tsx';
import { Expirations } from './expirations.tsx';
import { FirstLogin, useIsUnconnected } from './first-login.tsx';
import { HOURLY_DAYS, HourlyCharts } from './hourly.tsx';
import { LicenseCounts } from './license-counts.tsx';
import { statisticsQuery } from './queries.ts';
import { statisticsRoute } from './route.ts';

const DEFAULT_DAYS = '30';
const STATUS_TONES = { active: 'good', paused: 'warn', disabled: 'bad' } as const;

/** What happens in an application. */
export function StatisticsPage() {
  const { appId } = statisticsRoute.useParams();
  const search = statisticsRoute.useSearch();
  const wanted = oneOf(PERIODS, search.days) ?? DEFAULT_DAYS;
  const days = Number(wanted);
  const isHourly = days <= HOURLY_DAYS && search.by === 'hour';
  const application = useApplication(appId);
  const statistics = useQuery(statisticsQuery(appId, lastDays(days)));
  const before = useQuery(statisticsQuery(appId, lastDays(days, 1)));
  const isPrevious = statistics.isPlaceholderData;
  const shownDays = useLast(isPrevious ? undefined : days) ?? days;
  const isUnconnected = useIsUnconnected(appId, isPrevious ? undefined : statistics.data?.series);
  const status = application.data?.status_code;
  const change = useChangeSearch(statisticsRoute);

  return (
    <Page
      title={
        <>
          <bdi>{application.data?.name ?? 'Application'}</bdi>{' '}
          {status && status !== 'active' && <Badge tone={STATUS_TONES[status]}>{status}</Badge>}
        </>
      }
      description={<AppId appId={appId} />}
      actions={
        <>
          <Select
            bare
            label="Period"
            value={wanted}
            options={PERIODS.map((period) => [period, `Last ${period} days`])}
            onChange={({ target }) => change({ days: target.value })}
          />
          {days <= HOURLY_DAYS && (
            <Select
              bare
              label="Resolution"
              value={isHourly ? 'hour' : 'day'}
              options={[
                ['day', 'By day'],
                ['hour', 'By hour'],
              ]}
              onChange={({ target }) => change({ by: target.value })}
            />
          )}
          <Link
            to="/apps/$appId/licenses"
            params={{ appId }}
            search={{ create: 'yes' }}
            className={buttonClass({ look: 'primary' })}
          >
            Create keys
          </Link>
        </>
      }
    >
      {statistics.isLoadingError ? (
        <ErrorState error={statistics.error} onRetry={() => void statistics.refetch()} />
      ) : statistics.data ? (
        <Stack>
          <Numbers
            series={statistics.data.series}
            // The placeholder of another period is no period to compare with.
            before={isPrevious || before.isPlaceholderData ? undefined : before.data?.series}
            days={shownDays}
          />
          {isUnconnected === undefined && !isPrevious ? (
            <Loading what="the plots" lines={9} />
          ) : isUnconnected ? (
            <>
              <FirstLogin appId={appId} />
              <LicenseCounts appId={appId} />
            </>
          ) : (
            <>
              {isHourly ? <HourlyCharts appId={appId} /> : <DailyCharts {...statistics.data} />}
              <Columns>
                <LicenseCounts appId={appId} />
                <Expirations appId={appId} days={days} />
              </Columns>
            </>
          )}
        </Stack>
      ) : (
        <Loading what="the statistics" lines={9} />
      )}
    </Page>
  );
}
