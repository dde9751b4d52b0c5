import type { ReactNode } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Icon } from '../../components/icon.tsx';
import styles from './plan.module.css';
import type { Plan } from './queries.ts';
import { contentOf, priceOf, rhythmOf } from './words.ts';

interface Props {
  readonly plan: Plan;
  readonly isCurrent?: boolean;
  /** What can be done, or why nothing can. */
  readonly children: ReactNode;
}

/** A plan or a pack that is on sale. */
export function PlanCard({ plan, isCurrent = false, children }: Props) {
  return (
    <li className={styles.plan} data-current={isCurrent || undefined}>
      <h3 className={styles.name}>
        <bdi>{plan.name}</bdi> {isCurrent && <Badge tone="accent">your plan</Badge>}
      </h3>
      <p className={styles.price}>
        {priceOf(plan)} <span>{rhythmOf(plan)}</span>
      </p>
      <ul className={styles.content}>
        {contentOf(plan).map((text) => (
          <li key={text}>
            <Icon name="check" />
            {text}
          </li>
        ))}
      </ul>
      {children}
    </li>
  );
}
