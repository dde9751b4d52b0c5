import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useSettled } from '../lib/settled.ts';
import type { Command, Commands } from './frame.ts';
import { APPLICATION_PAGES } from './navigation.ts';
import { applicationQuery, applicationsQuery, searchQuery } from './queries.ts';

const SEARCH_AFTER_MS = 200;
const ICONS = { application: 'chart', license: 'key', user: 'person' } as const;

/** The pages of the application, the other applications, and what the service finds in all of them. */
export function useDeveloperCommands(text: string): Commands {
  const navigate = useNavigate();
  const { appId } = useParams({ strict: false });
  const application = useQuery({ ...applicationQuery(appId ?? ''), enabled: appId !== undefined });
  const applications = useQuery(applicationsQuery);
  const own = appId
    ? APPLICATION_PAGES.map(({ to, label, icon }) => ({
        id: to,
        label,
        icon,
        group: application.data?.name ?? 'Application',
        run: () => void navigate({ to, params: { appId } }),
      }))
    : [];
  const others = (applications.data?.data ?? []).map(({ app_id, name }) => ({
    id: app_id,
    label: name,
    icon: 'chart' as const,
    group: 'Application',
    run: () => void navigate({ to: '/apps/$appId', params: { appId: app_id } }),
  }));
  return { own, others, hits: useHits(text) };
}

function useHits(text: string): readonly Command[] {
  const navigate = useNavigate();
  const settled = useSettled(text.trim(), SEARCH_AFTER_MS);
  const { data } = useQuery({ ...searchQuery(settled), enabled: settled !== '' && text.trim() !== '' });
  if (text.trim() === '') return [];
  return (data?.data ?? [])
    .filter(({ kind }) => kind !== 'application')
    .map(({ kind, id, app_id: appId, application_name, title, state }) => ({
      id,
      label: title,
      icon: ICONS[kind],
      group: `${state} in ${application_name}`,
      run: () =>
        void (kind === 'user'
          ? navigate({ to: '/apps/$appId/users/$userId', params: { appId, userId: id } })
          : navigate({ to: '/apps/$appId/licenses', params: { appId }, search: { license: id } })),
    }));
}
