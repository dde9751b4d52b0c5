import { Card } from '../../../components/card.tsx';
import { Usage } from '../../../components/usage.tsx';
import type { Account } from './queries.ts';
import styles from './quotas.module.css';

/** What the developer uses of the plan. */
export function Quotas({ account: { quotas } }: { readonly account: Account }) {
  return (
    <Card title="Usage">
      <Usage label="Applications" {...quotas.apps} />
      <Usage label="Users of the largest application" {...quotas.users_per_app} />
      {quotas.licenses ? (
        <Usage label="License keys" {...quotas.licenses} />
      ) : (
        <p className={styles.unlimited}>The plan does not limit license keys.</p>
      )}
    </Card>
  );
}
