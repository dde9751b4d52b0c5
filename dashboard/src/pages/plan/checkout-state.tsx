import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button, buttonClass } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { formatMoney } from '../../lib/format.ts';
import styles from './plan.module.css';
import { type Checkout, checkoutQuery, NEWEST_CHECKOUT, type Plan, usePlanChanged } from './queries.ts';

interface Props {
  readonly checkoutId: string;
  readonly plans: readonly Plan[];
  /** Called with the id if the address does not have it yet. */
  readonly onKnown: (checkoutId: string) => void;
  readonly onClose: () => void;
}

const STATES: Readonly<Record<Checkout['state'], readonly [words: string, tone: Tone]>> = {
  open: ['not paid yet', 'neutral'],
  processing: ['processing', 'warn'],
  paid: ['paid', 'good'],
  failed: ['payment failed', 'bad'],
  expired: ['expired', 'neutral'],
};

/** The state of a purchase. It is read again until it is settled. */
export function CheckoutState({ checkoutId, plans, onKnown, onClose }: Props) {
  const checkout = useQuery(checkoutQuery(checkoutId));
  const changed = usePlanChanged();
  const client = useQueryClient();
  const id = checkout.data?.checkout_id;
  const isPaid = checkout.data?.state === 'paid';
  useEffect(() => {
    if (id === undefined || checkoutId !== NEWEST_CHECKOUT) return;
    client.setQueryData(checkoutQuery(id).queryKey, checkout.data);
    onKnown(id);
  });
  useEffect(() => {
    if (isPaid) void changed();
    // Once, when the payment is confirmed.
  }, [isPaid]);
  if (checkout.isLoadingError)
    return <ErrorState error={checkout.error} onRetry={() => void checkout.refetch()} />;
  if (checkout.data === null) return null;
  if (!checkout.data) return <Loading what="the checkout" lines={2} />;
  const plan = plans.find(({ id: planId }) => planId === checkout.data?.plan_id);
  return (
    <Card
      title={plan ? `Purchase of ${plan.name}` : 'Your purchase'}
      description={formatMoney(checkout.data.amount, checkout.data.currency)}
      actions={<Button onClick={onClose}>Close</Button>}
    >
      <div role="status">
        <Words checkout={checkout.data} />
      </div>
    </Card>
  );
}

function Words({ checkout }: { readonly checkout: Checkout }) {
  const { state, url, expires_at } = checkout;
  const [words, tone] = STATES[state];
  const badge = <Badge tone={tone}>{words}</Badge>;
  switch (state) {
    case 'paid':
      return (
        <p>
          {badge} The payment was confirmed <Time value={checkout.paid_at} form="relative" />, and everything
          is granted.
        </p>
      );
    case 'processing':
      return (
        <p>
          {badge} Your bank is still processing the payment, which can take days. You get what you bought as
          soon as it is confirmed.
        </p>
      );
    case 'expired':
      return <p>{badge} The payment page expired, and nothing was charged. Choose the plan again.</p>;
    default:
      return (
        <div className={styles.head}>
          <p>
            {badge}{' '}
            {state === 'failed'
              ? 'Nothing was charged. Try again on the payment page, with another card if you like.'
              : 'If you have just paid, the confirmation arrives in a moment. Nothing is charged before you pay.'}{' '}
            The page is open until <Time value={expires_at} />.
          </p>
          <a href={url} className={buttonClass({ look: 'primary' })}>
            Go to payment
          </a>
        </div>
      );
  }
}
