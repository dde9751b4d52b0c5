import styles from './progress.module.css';

interface Props {
  readonly label: string;
  readonly value: number;
  readonly max: number;
}

/** How much of something is done, or used. */
export function Progress({ label, value, max }: Props) {
  return (
    <progress className={styles.progress} aria-label={label} value={Math.min(value, max)} max={max || 1} />
  );
}
