import { useQuery } from '@tanstack/react-query';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { oneOf } from '../../lib/search.ts';
import { Page, Stack } from '../../shell/page.tsx';
import { developerQuery } from '../../shell/queries.ts';
import { CheckoutState } from './checkout-state.tsx';
import { CurrentPlan } from './current-plan.tsx';
import { Invoices } from './invoices.tsx';
import { Packs } from './packs.tsx';
import { Plans } from './plans.tsx';
import { plansQuery, subscriptionQuery } from './queries.ts';
import { planRoute } from './route.ts';

const TABS = ['plan', 'packs', 'invoices'] as const;
/** The plan of developers who do not pay. They have no subscription. */
const FREE = 'free';

/** What the developer pays for. */
export function PlanPage() {
  const { tab, checkout } = planRoute.useSearch();
  const developer = useQuery(developerQuery);
  const plans = useQuery(plansQuery);
  const pays = developer.data !== undefined && developer.data.plan.id !== FREE;
  const subscription = useQuery({ ...subscriptionQuery, enabled: pays });
  const failed = [developer, plans, subscription].find(({ isLoadingError }) => isLoadingError);
  const change = useChangeSearch(planRoute);

  const content = () => {
    if (failed) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
    if (!developer.data || !plans.data || (pays && subscription.data === undefined)) {
      return <Loading what="the plan" lines={9} />;
    }
    const current = pays ? (subscription.data ?? null) : null;
    const all = plans.data.data;
    return (
      <Tabs
        label="Plan"
        current={oneOf(TABS, tab) ?? 'plan'}
        onChange={(next) => change({ tab: next })}
        tabs={[
          {
            id: 'plan',
            label: 'Plan',
            content: (
              <Stack>
                <CurrentPlan developer={developer.data} subscription={current} />
                <Plans plans={all} developer={developer.data} subscription={current} />
              </Stack>
            ),
          },
          { id: 'packs', label: 'Packs', content: <Packs plans={all} developer={developer.data} /> },
          { id: 'invoices', label: 'Invoices', content: <Invoices plans={all} subscription={current} /> },
        ]}
      />
    );
  };

  return (
    <Page title="Plan" description="What you use, what you pay for, and your invoices.">
      <Stack>
        {checkout && (
          <CheckoutState
            checkoutId={checkout}
            plans={plans.data?.data ?? []}
            onKnown={(id) => change({ checkout: id })}
            onClose={() => change({ checkout: '' })}
          />
        )}
        {content()}
      </Stack>
    </Page>
  );
}
