import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { licensesKey } from '../licenses/queries.ts';

/** The newest key that no one has used. */
export const unusedKeyQuery = (appId: string) =>
  queryOptions({
    queryKey: [...licensesKey(appId), 'unused'],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/licenses', {
        path: { app_id: appId },
        query: { status: 'unused', limit: 1 },
        signal,
        background: true,
      }),
  });
