import { useChanged } from '../../api/changed.ts';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';

export type Reseller = Schemas['Reseller'];

/** The cache of all resellers, and of all that belongs to one of them. */
export const RESELLERS_KEY = ['resellers'];

export const useResellers = () =>
  useCursorList([...RESELLERS_KEY, 'list'], (cursor, signal) =>
    call('GET /api/v2/dev/resellers', { query: { limit: PAGE_SIZE, ...(cursor && { cursor }) }, signal }),
  );

/** Reads resellers again after a change. */
export const useResellersChanged = () => useChanged(RESELLERS_KEY);

export const createReseller = (body: Schemas['CreateResellerRequest']) =>
  call('POST /api/v2/dev/resellers', { body, once: true });
