import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { Days } from '../../lib/days.ts';

export const statisticsKey = (appId: string) => ['application', appId, 'statistics'];

export const statisticsQuery = (appId: string, { from, to }: Days) =>
  queryOptions({
    queryKey: [...statisticsKey(appId), from, to],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/statistics', {
        path: { app_id: appId },
        query: { from, to },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

export const hourlyQuery = (appId: string, { from, to }: Days) =>
  queryOptions({
    queryKey: [...statisticsKey(appId), from, to, 'hourly'],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/statistics', {
        path: { app_id: appId },
        query: { from, to, hourly: true },
        signal,
      }),
  });

export const countsQuery = (appId: string) =>
  queryOptions({
    queryKey: [...statisticsKey(appId), 'counts'],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/counts', { path: { app_id: appId }, signal }),
  });

/** The most days of one request. */
const MOST_DAYS = 90;

export const expirationsQuery = (appId: string, days: number) =>
  queryOptions({
    queryKey: [...statisticsKey(appId), 'expirations', days],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/expirations', {
        path: { app_id: appId },
        query: { days: Math.min(days, MOST_DAYS) },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
