import styles from './sparkline.module.css';

/** The course of a few days until today, which is not over yet. The text next to it says what they are. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const top = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map(
    (value, at) => `${(at * step).toFixed(2)},${(26 - (value / top) * 24).toFixed(2)}`,
  );
  return (
    <svg
      className={styles.sparkline}
      viewBox="0 0 100 28"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon className={styles.area} points={`0,28 ${points.join(' ')} 100,28`} />
      <polyline className={styles.line} points={points.slice(0, -1).join(' ')} />
      <polyline className={styles.today} points={points.slice(-2).join(' ')} />
    </svg>
  );
}
