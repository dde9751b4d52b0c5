import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call, type Schemas } from '../../api/client.ts';
import { type CursorList, PAGE_SIZE, useCursorList } from '../../api/pages.ts';
import { usersKey } from '../../shell/user-query.ts';

export type Ban = Schemas['Ban'];
export type BanKind = Schemas['BanKind'];

export const KINDS = ['user', 'hardware', 'network'] as const satisfies readonly BanKind[];
export const STATES = ['active', 'expired'] as const;

interface BanFilter {
  readonly kind: BanKind | undefined;
  readonly state: (typeof STATES)[number] | undefined;
}

const bansKey = (appId: string) => ['application', appId, 'bans'];

/** The bans of an application, newest first. */
function useAllBans(appId: string) {
  return useCursorList<Ban>(bansKey(appId), (cursor, signal) =>
    call('GET /api/v2/dev/apps/{app_id}/bans', {
      path: { app_id: appId },
      query: { limit: PAGE_SIZE, ...(cursor && { cursor }) },
      signal,
    }),
  );
}

/** How many bans a filter looks through until the reader wants it to continue. */
const LOOKED_THROUGH = 1_000;

/** The bans that match. The contract has no filter, so the page looks through the list, newest first. */
export function useBans(appId: string, filter: BanFilter) {
  const list = useAllBans(appId);
  const [atMost, setAtMost] = useState(LOOKED_THROUGH);
  const { kind, state } = filter;
  const isFiltered = kind !== undefined || state !== undefined;
  const items = useMemo(
    () =>
      list.items.filter(
        (ban) => (kind === undefined || ban.kind === kind) && (state === undefined || stateOf(ban) === state),
      ),
    [list.items, kind, state],
  );
  const isAtEnd = isFiltered && list.hasMore && list.items.length >= atMost;
  const found: CursorList<Ban> = {
    ...list,
    items,
    hasMore: list.hasMore && !isAtEnd,
    // Nothing has been found yet, but the next pages may have something.
    isLoading: list.isLoading || (items.length === 0 && list.hasMore && !isAtEnd && !list.error),
  };
  return {
    list: found,
    /** Looks through older bans, if the filter has not looked through all. */
    lookFurther: isAtEnd ? () => setAtMost(list.items.length + LOOKED_THROUGH) : undefined,
    lookedThrough: list.items.length,
  };
}

/** Whether a ban is in force. */
export function stateOf({ expires_at: expiresAt }: Ban): BanFilter['state'] {
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

/** Reads bans again after a change, and the users who are banned. */
export function useBansChanged(appId: string): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: bansKey(appId) });
    await client.invalidateQueries({ queryKey: usersKey(appId) });
  };
}

export const createBan = (appId: string, body: Schemas['CreateBanRequest']) =>
  call('POST /api/v2/dev/apps/{app_id}/bans', { path: { app_id: appId }, body, once: true });

export const liftBan = (appId: string, banId: string) =>
  call('DELETE /api/v2/dev/apps/{app_id}/bans/{ban_id}', { path: { app_id: appId, ban_id: banId } });
