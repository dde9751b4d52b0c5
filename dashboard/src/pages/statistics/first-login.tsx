import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { Card } from '../../components/card.tsx';
import { lastDays } from '../../lib/days.ts';
import { sum } from '../../lib/sum.ts';
import { useRefreshByEvents } from '../../shell/live-refresh.ts';
import { Connect } from '../connect/lazy-connect.tsx';
import { statisticsKey, statisticsQuery } from './queries.ts';

const hasLogins = ({ logins, refused_logins }: Schemas['StatisticsSeries']) =>
  sum(logins.total) + sum(refused_logins?.total ?? []) > 0;

/** As long as an operation can look back. */
const LONGEST = 366;

/**
 * Whether no one has ever tried to log in to an application.
 * @param series of the days that are shown; only if they are without a login, all days are read
 * @returns undefined while it is unknown
 */
export function useIsUnconnected(
  appId: string,
  series: Schemas['StatisticsSeries'] | undefined,
): boolean | undefined {
  const isQuiet = series && !hasLogins(series);
  const all = useQuery({ ...statisticsQuery(appId, lastDays(LONGEST)), enabled: isQuiet === true });
  if (isQuiet === undefined || !isQuiet || all.isError) return isQuiet && false;
  return all.data && !all.isPlaceholderData ? !hasLogins(all.data.series) : undefined;
}

/** Numbers may be behind the events by this much. */
const BEHIND_MS = 1_000;

/** What to do so that there is something to show. It gives way to the numbers when the first login arrives. */
export function FirstLogin({ appId }: { readonly appId: string }) {
  const client = useQueryClient();
  useRefreshByEvents({
    isRelevant: (event) => event.app_id === appId && event.type.startsWith('session.'),
    refresh: () => {
      setTimeout(() => void client.invalidateQueries({ queryKey: statisticsKey(appId) }), BEHIND_MS);
    },
    everyMs: BEHIND_MS,
  });
  return (
    <Card
      title="Connect your program"
      description="No user has logged in yet. Run an example: plots appear here with the first login."
    >
      <Connect appId={appId} />
    </Card>
  );
}
