import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { formatDuration, formatMoney } from '../../../lib/format.ts';
import type { OwnReseller } from '../queries.ts';
import styles from './home.module.css';

/** What the reseller can buy, and for how much. */
export function Prices({ reseller: { prices, currency } }: { readonly reseller: OwnReseller }) {
  if (prices.length === 0) {
    return (
      <Card>
        <EmptyState icon="receipt" title="No prices yet">
          The developer decides which keys you can buy. Contact them to get prices.
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card title="Your prices" description="What you pay for one key, after your commission.">
      <ul>
        {prices.map(({ app_id, app_name, tier, duration_days, price, cost }) => (
          <li key={`${app_id} ${tier} ${duration_days}`} className={styles.price}>
            <div className={styles.what}>
              <strong>
                <bdi>{tier}</bdi>, {formatDuration(duration_days)}
              </strong>
              <span>
                <bdi>{app_name}</bdi>
              </span>
            </div>
            <div className={styles.cost}>
              <strong>{formatMoney(cost, currency)}</strong>
              {price !== cost && <span>{formatMoney(price, currency)} list price</span>}
            </div>
            <Link
              to="/reseller/buy"
              search={{ app: app_id, tier, days: String(duration_days ?? 'lifetime') }}
              className={buttonClass()}
            >
              Buy
              <span className="visually-hidden">
                {' '}
                {tier}, {formatDuration(duration_days)}, of {app_name}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}
