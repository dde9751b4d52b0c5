import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import { PAGE_SIZE } from '../api/pages.ts';
import { keepSession, readSession } from '../api/session.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => {
    const session = await readSession();
    if (session) keepSession(session);
    return session;
  },
  staleTime: Infinity,
});

export const developerQuery = queryOptions({
  queryKey: ['developer'],
  queryFn: ({ signal }) => call('GET /api/v2/dev/me', { signal }),
});

/** The newest applications, for the switcher and the palette. */
export const applicationsQuery = queryOptions({
  queryKey: ['applications', 'newest'],
  queryFn: ({ signal }) => call('GET /api/v2/dev/apps', { query: { limit: PAGE_SIZE }, signal }),
});

export const applicationQuery = (appId: string) =>
  queryOptions({
    queryKey: ['application', appId],
    queryFn: ({ signal }) => call('GET /api/v2/dev/apps/{app_id}', { path: { app_id: appId }, signal }),
  });

export const useApplication = (appId: string) => useQuery(applicationQuery(appId));

/** Licenses and users of all applications that a text finds. */
export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    queryFn: ({ signal }) => call('GET /api/v2/dev/search', { query: { q: text.slice(0, 128) }, signal }),
    placeholderData: keepPreviousData,
  });

/** The balance, the commission and the prices of the reseller who is signed in. */
export const ownResellerQuery = queryOptions({
  queryKey: ['reseller', 'own'],
  queryFn: ({ signal }) => call('GET /api/v2/dev/reseller', { signal }),
});

/** The newest developers that a text finds. */
export const developerSearchQuery = (text: string) =>
  queryOptions({
    queryKey: ['admin', 'developers', 'search', text],
    queryFn: ({ signal }) =>
      call('GET /api/v2/admin/developers', { query: { q: text.slice(0, 254), limit: 8 }, signal }),
    placeholderData: keepPreviousData,
  });
