import { useQuery } from '@tanstack/react-query';
import { withoutMarks } from '../lib/bidi.ts';
import { ApplicationNavigation } from './application-navigation.tsx';
import { ConsolePages } from './console-pages.tsx';
import { useDeveloperCommands } from './developer-commands.ts';
import type { Frame } from './frame.ts';
import { ACCOUNT_PAGES } from './navigation.ts';
import { developerQuery } from './queries.ts';

function useAccount() {
  const { data } = useQuery(developerQuery);
  return { name: data?.email, note: data && `${withoutMarks(data.plan.name)} plan` };
}

const frame: Frame = {
  kind: 'developer',
  pages: ACCOUNT_PAGES,
  pagesLabel: 'Account',
  Navigation: ApplicationNavigation,
  useAccount,
  useCommands: useDeveloperCommands,
  opens: 'a page, an action, or anything by its name',
  tokenName: 'an API token of your account',
};

/** The dashboard of developers. */
export const DeveloperPages = () => <ConsolePages frame={frame} />;
