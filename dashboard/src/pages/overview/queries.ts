import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, pagesOptions, useListOf } from '../../api/pages.ts';
import { useRefreshByEvents } from '../../shell/live-refresh.ts';

export type Overview = Schemas['OverviewResult'];
export type Application = Schemas['ApplicationOverview'];

/** How often the checklist is read again at most, while the reader waits for its next step. */
const CHECKLIST_MS = 1_000;
/** How often the numbers are read again at most. */
const NUMBERS_MS = 15_000;

const overviewPages = pagesOptions(['applications', 'overview'], (cursor, signal) =>
  call('GET /api/v2/dev/overview', { query: { limit: PAGE_SIZE, ...(cursor && { cursor }) }, signal }),
);

/** All applications, newest first, and the numbers over all of them. Events refresh them. */
export function useOverview() {
  const query = useInfiniteQuery(overviewPages);
  const changed = useApplicationsChanged();
  const overview = query.data?.pages[0];
  const isWaiting = overview !== undefined && !overview.get_started.login;
  useRefreshByEvents({
    isRelevant: ({ type }) => !isWaiting || /^(application|license|user|session)\./.test(type),
    refresh: () => void changed(),
    everyMs: isWaiting ? CHECKLIST_MS : NUMBERS_MS,
  });
  return { overview, list: useListOf<Application>(query) };
}

export const createApplication = (name: string) =>
  call('POST /api/v2/dev/apps', { body: { name }, once: true });

/** Reads the applications again after a change. */
export function useApplicationsChanged(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['applications'] });
}
