import { classes } from '../lib/classes.ts';
import { formatNumber } from '../lib/format.ts';
import styles from './usage.module.css';
import { Progress } from './progress.tsx';

interface Props {
  /** What is limited, such as `Variables`. */
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  readonly format?: (value: number) => string;
}

/** How much of a limit is used. */
export function Usage({ label, used, limit, format = formatNumber }: Props) {
  return (
    <div className={styles.usage}>
      <span className={styles.label}>{label}</span>
      <span className={classes(styles.numbers, used > limit && styles.exceeded)}>
        {format(used)} of {format(limit)}
      </span>
      <Progress label={label} value={used} max={limit} />
    </div>
  );
}
