import { classes } from '../lib/classes.ts';
import styles from './skeleton.module.css';

interface Props {
  readonly lines?: number;
  readonly kind?: 'text' | 'block';
}

/** Where content is being loaded. */
export function Skeleton({ lines = 1, kind = 'text' }: Props) {
  return (
    <div className={styles.skeleton} aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className={classes(styles.line, styles[kind])} />
      ))}
    </div>
  );
}

/** A page that is being loaded, with a text for screen readers. */
export function Loading({ what, lines = 4 }: { readonly what: string; readonly lines?: number }) {
  return (
    <div role="status">
      <span className="visually-hidden">Loading {what}</span>
      <Skeleton lines={lines} />
    </div>
  );
}
