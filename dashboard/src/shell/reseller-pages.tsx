import { useQuery } from '@tanstack/react-query';
import { formatMoney } from '../lib/format.ts';
import { ownResellerQuery } from './queries.ts';
import { ConsolePages } from './console-pages.tsx';
import type { Commands, Frame } from './frame.ts';
import { RESELLER_PAGES } from './navigation.ts';

const NONE: Commands = { own: [], others: [], hits: [] };

function useAccount() {
  const { data } = useQuery(ownResellerQuery);
  return { name: data?.name, note: data && `Balance ${formatMoney(data.balance, data.currency)}` };
}

const frame: Frame = {
  kind: 'reseller',
  label: 'Reseller',
  pages: RESELLER_PAGES,
  pagesLabel: 'Pages',
  hasBottomBar: true,
  useAccount,
  useCommands: () => NONE,
  opens: 'a page',
  tokenName: 'your reseller token',
};

/** The console of resellers. */
export const ResellerPages = () => <ConsolePages frame={frame} />;
