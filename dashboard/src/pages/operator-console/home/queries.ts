import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call, type Schemas } from '../../../api/client.ts';
import { lastDays } from '../../../lib/days.ts';

export type Installation = Schemas['InstallationResult'];
export type Revenue = Schemas['RevenueResult'];

const REFRESH_MS = 15_000;

export const installationQuery = queryOptions({
  queryKey: ['admin', 'installation'],
  queryFn: ({ signal }) => call('GET /api/v2/admin/installation', { signal }),
  refetchInterval: REFRESH_MS,
});

const DAYS_OF_MONTH = 30.4;

/** What was paid in the last days, or in the last months. */
export const revenueQuery = (interval: Schemas['RevenueInterval'], length: number) =>
  queryOptions({
    queryKey: ['admin', 'revenue', interval, length],
    queryFn: ({ signal }) => {
      const days = interval === 'day' ? length : Math.round((length - 1) * DAYS_OF_MONTH) + 1;
      return call('GET /api/v2/admin/revenue', { query: { interval, ...lastDays(days) }, signal });
    },
    placeholderData: keepPreviousData,
  });
