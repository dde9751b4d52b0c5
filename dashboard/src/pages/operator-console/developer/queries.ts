import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../../api/client.ts';

export type Account = Schemas['DeveloperAccountResult'];

const accountKey = (developerId: string) => ['admin', 'developers', 'account', developerId];

export const accountQuery = (developerId: string) =>
  queryOptions({
    queryKey: accountKey(developerId),
    queryFn: ({ signal }) =>
      call('GET /api/v2/admin/developers/{developer_id}', { path: { developer_id: developerId }, signal }),
  });

/** Shows the account as a change has returned it, and reads the lists that have it again. */
export function useAccountChanged(): (account: Account) => Promise<void> {
  const client = useQueryClient();
  return (account) => {
    client.setQueryData(accountKey(account.developer_id), account);
    return client.invalidateQueries({ queryKey: ['admin', 'developers'] });
  };
}

export const suspend = (developerId: string, body: Schemas['SuspendDeveloperRequest']) =>
  call('POST /api/v2/admin/developers/{developer_id}/suspend', { path: { developer_id: developerId }, body });

export const reinstate = (developerId: string) =>
  call('POST /api/v2/admin/developers/{developer_id}/reinstate', { path: { developer_id: developerId } });
