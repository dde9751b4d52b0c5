import { useQuery } from '@tanstack/react-query';
import { Badge } from '../../components/badge.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { oneOf } from '../../lib/search.ts';
import { Page } from '../../shell/page.tsx';
import type { Reseller } from '../resellers/queries.ts';
import { Balance } from './balance.tsx';
import { Ledger } from './ledger.tsx';
import { Prices } from './prices.tsx';
import { resellerQuery } from './queries.ts';
import { ResellerActions } from './reseller-actions.tsx';
import { resellerRoute } from './route.ts';
import { ResellerTokens } from './tokens.tsx';

const TABS = ['balance', 'prices', 'ledger', 'tokens'] as const;

/** One reseller. */
export function ResellerPage() {
  const { resellerId } = resellerRoute.useParams();
  const reseller = useQuery(resellerQuery(resellerId));
  if (reseller.isLoadingError)
    return <ErrorState error={reseller.error} onRetry={() => void reseller.refetch()} />;
  if (!reseller.data) return <Loading what="the reseller" />;
  return <Details key={resellerId} reseller={reseller.data} />;
}

function Details({ reseller }: { readonly reseller: Reseller }) {
  const { tab } = resellerRoute.useSearch();
  const navigate = resellerRoute.useNavigate();
  return (
    <Page
      title={
        <>
          <bdi>{reseller.name}</bdi> {reseller.suspended && <Badge tone="warn">suspended</Badge>}
        </>
      }
      description={<code>{reseller.reseller_id}</code>}
      actions={
        <ResellerActions reseller={reseller} onDeleted={() => navigate({ to: '/resellers', search: {} })} />
      }
    >
      <Tabs
        label="Reseller"
        current={oneOf(TABS, tab) ?? 'balance'}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true, resetScroll: false })}
        tabs={[
          { id: 'balance', label: 'Balance and sales', content: <Balance reseller={reseller} /> },
          { id: 'prices', label: 'Prices', content: <Prices reseller={reseller} /> },
          { id: 'ledger', label: 'Ledger', content: <Ledger reseller={reseller} /> },
          { id: 'tokens', label: 'Tokens', content: <ResellerTokens reseller={reseller} /> },
        ]}
      />
    </Page>
  );
}
