import { EmptyState } from '../../../components/empty-state.tsx';
import { ErrorState } from '../../../components/error-state.tsx';
import { Card } from '../../../components/card.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Page } from '../../../shell/page.tsx';
import { useOwnReseller } from '../queries.ts';
import { BuyForm } from './buy-form.tsx';
import { resellerBuyRoute } from './route.ts';

/** Buys license keys from the balance. */
export function ResellerBuyPage() {
  const reseller = useOwnReseller();
  const search = resellerBuyRoute.useSearch();
  const navigate = resellerBuyRoute.useNavigate();
  return (
    <Page title="Buy keys" description="The cost is deducted from your balance. You can return unused keys.">
      {reseller.isLoadingError ? (
        <ErrorState error={reseller.error} onRetry={() => void reseller.refetch()} />
      ) : !reseller.data ? (
        <Loading what="your prices" lines={6} />
      ) : reseller.data.prices.length === 0 ? (
        <Card>
          <EmptyState icon="receipt" title="Nothing to buy yet">
            The developer decides which keys you can buy. Contact them to get prices.
          </EmptyState>
        </Card>
      ) : (
        <BuyForm
          reseller={reseller.data}
          wanted={search}
          onWant={(wanted) => void navigate({ search: wanted, replace: true, resetScroll: false })}
        />
      )}
    </Page>
  );
}
