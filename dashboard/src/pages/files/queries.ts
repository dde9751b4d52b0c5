import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { downloadFile } from '../../api/download.ts';
import { wholeListOptions } from '../../api/whole-list.ts';

export type HostedFile = Schemas['HostedFile'];

/** How many files the contract allows. */
export const MOST_FILES = 1_000;

const filesKey = (appId: string) => ['application', appId, 'files'];

/** All files of an application: it has at most 1,000. */
export const filesQuery = (appId: string) =>
  wholeListOptions([...filesKey(appId), 'list'], (query, signal) =>
    call('GET /api/v2/dev/apps/{app_id}/files', { path: { app_id: appId }, query, signal }),
  );

export const fileQuery = (appId: string, name: string) =>
  queryOptions({
    queryKey: [...filesKey(appId), 'one', name],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/files/{file_name}', {
        path: { app_id: appId, file_name: name },
        signal,
      }),
  });

/** The changes of one file. */
export function fileActions(appId: string, name: string) {
  const path = { app_id: appId, file_name: name };
  return {
    update: (body: Schemas['UpdateFileRequest']) =>
      call('PATCH /api/v2/dev/apps/{app_id}/files/{file_name}', { path, body }),
    delete: () => call('DELETE /api/v2/dev/apps/{app_id}/files/{file_name}', { path }),
    download: () => downloadFile('GET /api/v2/dev/apps/{app_id}/files/{file_name}/content', { path }),
  };
}

/** Reads files again after a change. After a deletion, only the list: what is gone cannot be read. */
export function useFilesChanged(appId: string): (part?: 'list') => Promise<void> {
  const client = useQueryClient();
  return (part) => client.invalidateQueries({ queryKey: [...filesKey(appId), ...(part ? [part] : [])] });
}
