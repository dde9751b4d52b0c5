import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Stack } from '../../shell/page.tsx';
import { PlanCard } from './plan-card.tsx';
import styles from './plan.module.css';
import { type Developer, payFor, type Plan } from './queries.ts';
import { TopUpDialog } from './top-up-dialog.tsx';
import { isSubscription } from './words.ts';

interface Props {
  readonly plans: readonly Plan[];
  readonly developer: Developer;
}

/** What can be bought in addition to a plan. */
export function Packs({ plans, developer }: Props) {
  const packs = plans.filter((plan) => !isSubscription(plan));
  const [topUp, setTopUp] = useState<Plan>();
  const payment = useMutation({ mutationFn: (plan: Plan) => payFor(plan.id) });
  const action = (plan: Plan) => {
    if (plan.kind === 'reseller_balance') {
      return <Button onClick={() => setTopUp(plan)}>Buy {plan.name}</Button>;
    }
    if (!developer.quotas.licenses) {
      return (
        <p className={styles.hint}>Your plan does not limit license keys, so you do not need this pack.</p>
      );
    }
    return (
      <Button
        busy={payment.isPending && payment.variables.id === plan.id}
        onClick={() => payment.mutate(plan)}
      >
        Buy {plan.name}
      </Button>
    );
  };
  if (packs.length === 0) {
    return (
      <EmptyState icon="card" title="No packs on sale">
        When the operator of this service sells packs of license keys or of reseller balance, they appear
        here.
      </EmptyState>
    );
  }
  return (
    <Stack>
      <div>
        <h2>Packs</h2>
        <p className={styles.description}>Paid once, in addition to your plan.</p>
      </div>
      {payment.error && <ErrorState error={payment.error} />}
      <ul className={styles.plans}>
        {packs.map((plan) => (
          <PlanCard key={plan.id} plan={plan}>
            {action(plan)}
          </PlanCard>
        ))}
      </ul>
      <TopUpDialog plan={topUp} onClose={() => setTopUp(undefined)} />
    </Stack>
  );
}
