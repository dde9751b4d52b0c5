import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { applicationQuery } from '../../shell/queries.ts';

export type Application = Schemas['ApplicationResult'];
export type Changes = Schemas['UpdateApplicationRequest'];

/** Changes an application. The page shows what the service returns. */
export function useUpdate(appId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Changes) => call('PATCH /api/v2/dev/apps/{app_id}', { path: { app_id: appId }, body }),
    onSuccess: (application) => {
      client.setQueryData(applicationQuery(appId).queryKey, application);
      return client.invalidateQueries({ queryKey: ['applications'] });
    },
  });
}

export const rotateSecret = (appId: string, overlapSeconds: number) =>
  call('POST /api/v2/dev/apps/{app_id}/rotate-secret', {
    path: { app_id: appId },
    body: { overlap_seconds: overlapSeconds },
    once: true,
  });

export const endOverlap = (appId: string) =>
  call('DELETE /api/v2/dev/apps/{app_id}/previous-secret', { path: { app_id: appId } });

export const deleteApplication = (appId: string) =>
  call('DELETE /api/v2/dev/apps/{app_id}', { path: { app_id: appId } });

/** Reads the application again. */
export function useApplicationChanged(appId: string): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: applicationQuery(appId).queryKey });
}
