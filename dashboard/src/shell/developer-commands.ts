import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { sentenceCase } from '../lib/format.ts';
import { useSettled } from '../lib/settled.ts';
import { useCurrentApplication } from './current-application.ts';
import { ACCOUNT_ACTIONS, APPLICATION_ACTIONS, TABS } from './developer-actions.ts';
import type { Command, Commands } from './frame.ts';
import { APPLICATION_PAGES } from './navigation.ts';
import { useNamed } from './named-commands.ts';
import { applicationsQuery, searchQuery } from './queries.ts';

const SEARCH_AFTER_MS = 200;
const ICONS = { application: 'chart', license: 'key', user: 'person' } as const;

/** The pages and actions of the current application and the account, and what their lists and the service find. */
export function useDeveloperCommands(text: string): Commands {
  const navigate = useNavigate();
  const { appId, name = 'Application' } = useCurrentApplication();
  const applications = useQuery(applicationsQuery);
  const own = appId
    ? [...APPLICATION_PAGES, ...APPLICATION_ACTIONS].map(({ to, label, icon, ...rest }) => ({
        id: `${to} ${label}`,
        label,
        icon,
        group: name,
        run: () => void navigate({ to, params: { appId }, search: 'search' in rest ? rest.search : {} }),
      }))
    : [];
  const account = [...ACCOUNT_ACTIONS, ...TABS].map(({ to, label, icon, search }) => ({
    id: `${to} ${label}`,
    label,
    icon,
    group: 'Account',
    run: () => void navigate({ to, search }),
  }));
  const others = (applications.data?.data ?? []).map((application) => ({
    id: application.app_id,
    label: application.name,
    icon: 'chart' as const,
    group: 'Application',
    run: () => void navigate({ to: '/apps/$appId', params: { appId: application.app_id } }),
  }));
  const named = useNamed(appId, name, text.trim() !== '');
  return { own, others: [...account, ...others, ...named], hits: useHits(text) };
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
      group: `${sentenceCase(state)} in ${application_name}`,
      run: () =>
        void (kind === 'user'
          ? navigate({ to: '/apps/$appId/users/$userId', params: { appId, userId: id } })
          : navigate({ to: '/apps/$appId/licenses', params: { appId }, search: { license: id } })),
    }));
}
