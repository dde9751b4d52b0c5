import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Callout } from '../../components/callout.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Select } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { oneOf } from '../../lib/search.ts';
import { PlanCard } from './plan-card.tsx';
import styles from './plan.module.css';
import {
  type Developer,
  payFor,
  type Plan,
  type Subscription,
  updateSubscription,
  usePlanChanged,
} from './queries.ts';
import { planRoute } from './route.ts';
import { isSubscription, priceOf, rhythmOf } from './words.ts';

const PERIODS = ['monthly', 'yearly'] as const;

interface Props {
  readonly plans: readonly Plan[];
  readonly developer: Developer;
  readonly subscription: Subscription | null;
}

/** The plans to choose from. */
export function Plans({ plans, developer, subscription }: Props) {
  const { period: wanted } = planRoute.useSearch();
  const change = useChangeSearch(planRoute);
  const own = oneOf(PERIODS, subscription?.period);
  const period = oneOf(PERIODS, wanted) ?? own ?? 'monthly';
  const offered = plans.filter(isSubscription);
  const hasBoth = PERIODS.every((each) => offered.some((plan) => plan.period === each));
  const isOnce = ({ price, period: each }: Plan) => price > 0 && !oneOf(PERIODS, each);
  const once = offered.filter(isOnce);
  const shown = offered.filter(
    (plan) => !isOnce(plan) && (!hasBoth || plan.period === period || plan.price === 0),
  );
  const [target, setTarget] = useState<Plan>();
  const [awaited, setAwaited] = useState<Plan>();
  const payment = useMutation({ mutationFn: (plan: Plan) => payFor(plan.id) });
  const changed = usePlanChanged();
  // A subscription that is paid by the period changes to plans that are, too. Everything else is a purchase.
  const runs = subscription !== null && subscription.period !== 'lifetime';

  const action = (plan: Plan) => {
    if (plan.id === developer.plan.id) return null;
    if (plan.price === 0) {
      return (
        <p className={styles.hint}>
          {runs ? 'Applies after you cancel your subscription.' : 'Costs nothing.'}
        </p>
      );
    }
    if (runs && plan.period !== 'lifetime') {
      return (
        <Button onClick={() => setTarget(plan)}>
          Switch<span className="visually-hidden"> to {plan.name}</span>
        </Button>
      );
    }
    return (
      <Button
        look="primary"
        busy={payment.isPending && payment.variables.id === plan.id}
        onClick={() => payment.mutate(plan)}
      >
        Choose<span className="visually-hidden"> {plan.name}</span>
      </Button>
    );
  };

  const card = (plan: Plan) => (
    <PlanCard key={plan.id} plan={plan} isCurrent={plan.id === developer.plan.id}>
      {action(plan)}
    </PlanCard>
  );

  return (
    <>
      <div className={styles.head}>
        <h2>Plans</h2>
        {hasBoth && (
          <Select
            bare
            label="Paid"
            value={period}
            options={[
              ['monthly', 'Paid monthly'],
              ['yearly', 'Paid yearly'],
            ]}
            onChange={({ target: { value } }) => change({ period: value })}
          />
        )}
      </div>
      {payment.error && <ErrorState error={payment.error} />}
      {awaited && <Awaited plan={awaited} developer={developer} onOver={() => setAwaited(undefined)} />}
      <ul className={styles.plans}>{shown.map(card)}</ul>
      {once.length > 0 && (
        <>
          <h2>Paid once</h2>
          <ul className={styles.once}>{once.map(card)}</ul>
        </>
      )}
      <ConfirmDialog
        open={target !== undefined}
        onClose={() => setTarget(undefined)}
        title={`Switch to ${target?.name ?? ''}?`}
        description={
          target &&
          `${target.name} costs ${priceOf(target)} ${rhythmOf(target)}. The rest of your current plan is credited, and the difference is collected from your card immediately.`
        }
        action="Switch"
        isDangerous={false}
        onConfirm={async () => {
          await updateSubscription({ plan_name: target!.id });
          setAwaited(target);
          await changed();
        }}
      />
    </>
  );
}

const LOOK_AGAIN_MS = 1_500;
/** After this, it will not be a moment: the page shows the new plan whenever it is opened again. */
const LOOK_UNTIL_MS = 60_000;

/** Waits for the processor's event, which changes the plan. */
function Awaited({
  plan,
  developer,
  onOver,
}: {
  readonly plan: Plan;
  readonly developer: Developer;
  readonly onOver: () => void;
}) {
  const changed = usePlanChanged();
  const isThere = developer.plan.id === plan.id;
  const [began] = useState(Date.now);
  useEffect(() => {
    if (isThere) {
      toast(`You are now on the ${plan.name} plan.`);
      onOver();
      return;
    }
    const timer = setInterval(() => {
      if (Date.now() - began > LOOK_UNTIL_MS) onOver();
      else void changed();
    }, LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  });
  if (isThere) return null;
  return (
    <Callout>
      Your plan changes to {plan.name} when the payment processor confirms it, usually in a moment.
    </Callout>
  );
}
