import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../../../api/client.ts';
import { lastDays } from '../../../lib/days.ts';

export const salesQuery = (days: number) =>
  queryOptions({
    queryKey: ['reseller', 'sales', days],
    queryFn: ({ signal }) => call('GET /api/v2/dev/reseller/statistics', { query: lastDays(days), signal }),
    placeholderData: keepPreviousData,
  });
