import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { wholeListOptions } from '../../api/whole-list.ts';
import { KIB, MIB } from '../../lib/bytes.ts';

export type Variable = Schemas['Variable'];
export type Visibility = Schemas['VariableVisibility'];

/** What the contract allows. */
export const MOST = { variables: 1_000, bytes: MIB, valueBytes: 64 * KIB } as const;

export const VISIBILITIES: Readonly<Record<Visibility, string>> = {
  public: 'Every client',
  session: 'Signed-in users',
};

const variablesKey = (appId: string) => ['application', appId, 'variables'];

/** All variables of an application: it has at most 1,000. */
export const variablesQuery = (appId: string) =>
  wholeListOptions([...variablesKey(appId), 'list'], (query, signal) =>
    call('GET /api/v2/dev/apps/{app_id}/variables', { path: { app_id: appId }, query, signal }),
  );

export const variableQuery = (appId: string, name: string) =>
  queryOptions({
    queryKey: [...variablesKey(appId), 'one', name],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/variables/{name}', { path: { app_id: appId, name }, signal }),
  });

/** Creates a variable or replaces its value. */
export const setVariable = (appId: string, name: string, body: Schemas['SetVariableRequest']) =>
  call('PUT /api/v2/dev/apps/{app_id}/variables/{name}', { path: { app_id: appId, name }, body });

export const deleteVariable = (appId: string, name: string) =>
  call('DELETE /api/v2/dev/apps/{app_id}/variables/{name}', { path: { app_id: appId, name } });

/** Reads variables again after a change. After a deletion, only the list: what is gone cannot be read. */
export function useVariablesChanged(appId: string): (part?: 'list') => Promise<void> {
  const client = useQueryClient();
  return (part) => client.invalidateQueries({ queryKey: [...variablesKey(appId), ...(part ? [part] : [])] });
}
