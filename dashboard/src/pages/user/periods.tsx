import { Card } from '../../components/card.tsx';
import { SimpleTable } from '../../components/simple-table.tsx';
import { Time } from '../../components/time.tsx';
import type { User } from '../users/queries.ts';

/** The periods of a subscription, one after the other. */
export function Periods({ subscription }: { readonly subscription: User['subscription'] }) {
  return (
    <Card title="Subscription" description="Each period belongs to one tier. A higher tier comes first.">
      {subscription.periods.length === 0 ? (
        <p>No time left. Extend the subscription, or let the user redeem a key.</p>
      ) : (
        <SimpleTable
          label="Periods of the subscription"
          head={['Tier', 'From', 'Until']}
          rows={subscription.periods.map(({ tier, starts_at, expires_at }) => [
            tier,
            <Time key="from" value={starts_at} />,
            <Time key="until" value={expires_at} />,
          ])}
        />
      )}
    </Card>
  );
}
