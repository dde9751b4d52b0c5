import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';

export type License = Schemas['License'];
export type LicenseStatus = Schemas['LicenseStatus'];

export const STATUSES = [
  'unused',
  'redeemed',
  'paused',
  'banned',
] as const satisfies readonly LicenseStatus[];

export interface LicenseFilter {
  readonly q?: string | undefined;
  readonly status?: LicenseStatus | undefined;
  readonly tier?: string | undefined;
}

export const licensesKey = (appId: string) => ['application', appId, 'licenses'];

/** The filter as the list, the export and the bulk operations take it. */
export const toQuery = ({ q, status, tier }: LicenseFilter) => ({
  ...(q && { q }),
  ...(status && { status }),
  ...(tier && { tier }),
});

/** The licenses that match, newest first. */
export function useLicenses(appId: string, filter: LicenseFilter) {
  return useCursorList([...licensesKey(appId), 'list', filter], (cursor, signal) =>
    call('GET /api/v2/dev/apps/{app_id}/licenses', {
      path: { app_id: appId },
      query: { limit: PAGE_SIZE, ...toQuery(filter), ...(cursor && { cursor }) },
      signal,
    }),
  );
}

export const licenseQuery = (appId: string, licenseId: string) =>
  queryOptions({
    queryKey: [...licensesKey(appId), licenseId],
    queryFn: async ({ signal }) => {
      const path = { app_id: appId, license_id: licenseId };
      return (await call('GET /api/v2/dev/apps/{app_id}/licenses/{license_id}', { path, signal })).license;
    },
  });

/** Reads licenses again after a change. */
export function useLicensesChanged(appId: string): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: licensesKey(appId) });
}

/** The changes of one license. */
export function licenseActions(appId: string, licenseId: string) {
  const path = { app_id: appId, license_id: licenseId };
  return {
    update: (body: Schemas['UpdateLicenseRequest']) =>
      call('PATCH /api/v2/dev/apps/{app_id}/licenses/{license_id}', { path, body }),
    ban: (body: Schemas['BanLicenseRequest'] = {}) =>
      call('POST /api/v2/dev/apps/{app_id}/licenses/{license_id}/ban', { path, body, once: true }),
    unban: () => call('POST /api/v2/dev/apps/{app_id}/licenses/{license_id}/unban', { path }),
    pause: () => call('POST /api/v2/dev/apps/{app_id}/licenses/{license_id}/pause', { path }),
    resume: () => call('POST /api/v2/dev/apps/{app_id}/licenses/{license_id}/resume', { path }),
    transfer: (username: string) =>
      call('POST /api/v2/dev/apps/{app_id}/licenses/{license_id}/transfer', {
        path,
        body: { username },
        once: true,
      }),
    delete: () => call('DELETE /api/v2/dev/apps/{app_id}/licenses/{license_id}', { path }),
  };
}

export const createLicenses = (appId: string, body: Schemas['CreateLicensesRequest']) =>
  call('POST /api/v2/dev/apps/{app_id}/licenses', { path: { app_id: appId }, body, once: true });
