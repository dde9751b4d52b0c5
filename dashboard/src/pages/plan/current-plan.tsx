import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Callout } from '../../components/callout.tsx';
import { Card } from '../../components/card.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Usage } from '../../components/usage.tsx';
import styles from './plan.module.css';
import { type Developer, type Subscription, updateSubscription, usePlanChanged } from './queries.ts';

interface Props {
  readonly developer: Developer;
  readonly subscription: Subscription | null;
}

const EVERY = { monthly: 'every month', yearly: 'every year', lifetime: 'once' } as const;

/** The plan, how much of it is used, and when it ends. */
export function CurrentPlan({ developer, subscription }: Props) {
  return (
    <>
      {subscription?.state === 'past_due' && <PaymentFailed subscription={subscription} />}
      {developer.grace_ends_at && (
        <Callout tone="warn">
          Your paid plan has ended, and you use more than this plan allows. Logins of the applications that
          exceed it work until <Time value={developer.grace_ends_at} />. Choose a larger plan before then, or
          delete what you no longer need.
        </Callout>
      )}
      <Card
        title={`${developer.plan.name} plan`}
        description={<Renewal subscription={subscription} />}
        actions={subscription && <Cancellation subscription={subscription} />}
      >
        <Quotas developer={developer} />
      </Card>
    </>
  );
}

function PaymentFailed({ subscription }: { readonly subscription: Subscription }) {
  return (
    <Callout tone="bad">
      <strong>The payment for the next period failed.</strong> The payment processor tries again during the
      next days. Make sure that your card is valid and has funds, or use the link in the processor&apos;s
      email to pay with another one. If no attempt succeeds, the {subscription.plan_name} plan ends, and the
      quotas of the free plan apply.
    </Callout>
  );
}

function Renewal({ subscription }: { readonly subscription: Subscription | null }) {
  if (!subscription) return <>You do not pay for this plan.</>;
  const { period, period_end, cancel_at_period_end: ends, state } = subscription;
  if (period_end === null) return <>Paid once. It never ends.</>;
  if (ends) {
    return (
      <>
        <Badge tone="warn">canceled</Badge> The plan ends on <Time value={period_end} />. After that, the free
        plan applies.
      </>
    );
  }
  return (
    <>
      <Badge tone={state === 'active' ? 'good' : 'bad'}>
        {state === 'active' ? 'active' : 'payment failed'}
      </Badge>{' '}
      Paid {EVERY[period]}. {state === 'active' ? 'Renews' : 'Paid until'} <Time value={period_end} />.
    </>
  );
}

function Cancellation({ subscription }: { readonly subscription: Subscription }) {
  const [isOpen, setOpen] = useState(false);
  const changed = usePlanChanged();
  const set = async (cancel: boolean) => {
    await updateSubscription({ cancel_at_period_end: cancel });
    await changed();
    toast(cancel ? 'Subscription canceled.' : 'Your subscription continues.');
  };
  const continuing = useMutation({ mutationFn: () => set(false) });
  if (subscription.period_end === null) return null;
  return (
    <>
      {subscription.cancel_at_period_end ? (
        <Button look="primary" busy={continuing.isPending} onClick={() => continuing.mutate()}>
          Continue the subscription
        </Button>
      ) : (
        <Button onClick={() => setOpen(true)}>Cancel the subscription</Button>
      )}
      {continuing.error && <ErrorState error={continuing.error} compact />}
      <ConfirmDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Cancel the subscription?"
        description={
          <>
            You keep the plan until <Time value={subscription.period_end} />. After that, the quotas of the
            free plan apply. Applications that exceed them work for another 14 days. You can change your mind
            until then.
          </>
        }
        action="Cancel the subscription"
        onConfirm={() => set(true)}
      />
    </>
  );
}

function Quotas({ developer: { quotas } }: { readonly developer: Developer }) {
  return (
    <div className={styles.usage}>
      <Usage label="Applications" {...quotas.apps} />
      <Usage label="Users in one application" {...quotas.users_per_app} />
      {quotas.licenses && <Usage label="License keys" {...quotas.licenses} />}
    </div>
  );
}
