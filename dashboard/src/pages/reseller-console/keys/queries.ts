import { call, type Schemas } from '../../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../../api/pages.ts';

export type ResellerKey = Schemas['ResellerLicense'];

interface KeyFilter {
  readonly status?: Schemas['LicenseStatus'] | undefined;
  readonly app_id?: string | undefined;
}

/** The keys that the reseller bought. */
export const useKeys = (filter: KeyFilter) =>
  useCursorList(['reseller', 'keys', filter], (cursor, signal) =>
    call('GET /api/v2/dev/reseller/licenses', {
      query: {
        limit: PAGE_SIZE,
        ...(filter.status && { status: filter.status }),
        ...(filter.app_id && { app_id: filter.app_id }),
        ...(cursor && { cursor }),
      },
      signal,
    }),
  );

/** Returns an unused key for what it cost. */
export const returnKey = (licenseId: string) =>
  call('POST /api/v2/dev/reseller/licenses/{license_id}/refund', {
    path: { license_id: licenseId },
    once: true,
  });
