import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useSettled } from '../lib/settled.ts';
import { developerSearchQuery } from './queries.ts';
import { ConsolePages } from './console-pages.tsx';
import type { Commands, Frame } from './frame.ts';
import { ADMINISTRATOR_PAGES } from './navigation.ts';

const SEARCH_AFTER_MS = 200;

/** The developers that a text finds. */
function useCommands(text: string): Commands {
  const navigate = useNavigate();
  const settled = useSettled(text.trim(), SEARCH_AFTER_MS);
  const isSearched = settled !== '' && text.trim() !== '';
  const { data } = useQuery({ ...developerSearchQuery(settled), enabled: isSearched });
  const hits = (isSearched ? (data?.data ?? []) : []).map(({ developer_id: developerId, email, name }) => ({
    id: developerId,
    label: email,
    icon: 'person' as const,
    group: name ?? 'Developer',
    run: () => void navigate({ to: '/admin/developers/$developerId', params: { developerId } }),
  }));
  return { own: [], others: [], hits };
}

const frame: Frame = {
  kind: 'administrator',
  label: 'Operator',
  pages: ADMINISTRATOR_PAGES,
  pagesLabel: 'Installation',
  useAccount: () => ({ name: 'Administrator', note: location.host }),
  useCommands,
  opens: 'a page or a developer',
  tokenName: "the administrator's token",
};

/** The console of the operator. */
export const AdministratorPages = () => <ConsolePages frame={frame} />;
