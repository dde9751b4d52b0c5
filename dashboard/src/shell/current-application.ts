import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { createStore, useStore } from '../lib/store.ts';
import { applicationQuery, applicationsQuery } from './queries.ts';

const KEY = 'latchkey-application';

const lastApplication = createStore(localStorage.getItem(KEY));

/** Remembers the application whose pages were open last. */
export function rememberApplication(appId: string): void {
  localStorage.setItem(KEY, appId);
  lastApplication.set(appId);
}

/** The application whose pages are open. On a page of the account, the one that was open last, or the newest. */
export function useCurrentApplication(): { readonly appId?: string; readonly name?: string | undefined } {
  const { appId } = useParams({ strict: false });
  const open = useQuery({ ...applicationQuery(appId ?? ''), enabled: appId !== undefined });
  const applications = useQuery(applicationsQuery).data?.data ?? [];
  const last = useStore(lastApplication);
  if (appId !== undefined) return { appId, name: open.data?.name };
  const { app_id, name } = applications.find((each) => each.app_id === last) ?? applications[0] ?? {};
  return app_id === undefined ? {} : { appId: app_id, name };
}
