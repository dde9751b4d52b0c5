import { call, type Schemas } from '../../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../../api/pages.ts';

export type ResellerUser = Schemas['ResellerUser'];

/** The users who redeemed keys of the reseller. */
export const useResellerUsers = () =>
  useCursorList(['reseller', 'users'], (cursor, signal) =>
    call('GET /api/v2/dev/reseller/users', {
      query: { limit: PAGE_SIZE, ...(cursor && { cursor }) },
      signal,
    }),
  );

export const resetMachine = (userId: string) =>
  call('POST /api/v2/dev/reseller/users/{user_id}/reset-hwid', { path: { user_id: userId } });
