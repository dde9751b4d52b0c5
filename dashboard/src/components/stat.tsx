import type { ReactNode } from 'react';
import { formatNumber, formatPercent } from '../lib/format.ts';
import { Badge } from './badge.tsx';
import styles from './stat.module.css';

interface Props {
  readonly label: string;
  readonly value: number | string;
  /** The difference to the period before, as a share. */
  readonly change?: number | null;
  /** What the number is about. Every card has it, so that a row of them has no gaps. */
  readonly note: ReactNode;
}

/** One number that matters. */
export function Stat({ label, value, change, note }: Props) {
  return (
    <div className={styles.stat}>
      <dt className={styles.label}>{label}</dt>
      <dd className={styles.value}>
        {typeof value === 'number' ? formatNumber(value) : value}
        {change !== undefined && change !== null && (
          <span className={styles.change}>
            <Badge tone={change > 0 ? 'good' : change < 0 ? 'warn' : 'neutral'}>
              {change > 0 ? '+' : ''}
              {formatPercent(change)}
              <span className="visually-hidden"> against the period before</span>
            </Badge>
          </span>
        )}
      </dd>
      <dd className={styles.note}>{note}</dd>
    </div>
  );
}

interface StatsProps {
  readonly children: ReactNode;
  /** How many days the changes compare with, if there are any. */
  readonly days?: number;
}

/** Several numbers in a row. */
export function Stats({ children, days }: StatsProps) {
  return (
    <div>
      <dl className={styles.stats}>{children}</dl>
      {days !== undefined && (
        <p className={styles.compared}>Changes in percent compare with the {days} days before.</p>
      )}
    </div>
  );
}
