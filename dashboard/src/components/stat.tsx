import type { ReactNode } from 'react';
import { formatNumber, formatPercent } from '../lib/format.ts';
import { Badge } from './badge.tsx';
import styles from './stat.module.css';

interface Props {
  readonly label: string;
  readonly value: number | string;
  /** The difference to the period before, as a share. */
  readonly change?: number | null;
  readonly note?: ReactNode;
}

/** One number that matters. */
export function Stat({ label, value, change, note }: Props) {
  return (
    <div className={styles.stat}>
      <dt className={styles.label}>{label}</dt>
      <dd className={styles.value}>
        {typeof value === 'number' ? formatNumber(value) : value}
        {change !== undefined && change !== null && (
          <Badge tone={change > 0 ? 'good' : change < 0 ? 'warn' : 'neutral'}>
            {change > 0 ? '+' : ''}
            {formatPercent(change)}
            <span className="visually-hidden"> against the period before</span>
          </Badge>
        )}
      </dd>
      {note && <dd className={styles.note}>{note}</dd>}
    </div>
  );
}

/** Several numbers in a row. */
export function Stats({ children }: { readonly children: ReactNode }) {
  return <dl className={styles.stats}>{children}</dl>;
}
