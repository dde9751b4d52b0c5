import { CopyButton } from './copy-button.tsx';
import { Callout } from './callout.tsx';
import styles from './secret.module.css';

interface Props {
  /** What it is, such as `application secret`. */
  readonly what: string;
  readonly value: string;
}

/** A secret that the service shows only once. */
export function Secret({ what, value }: Props) {
  return (
    <div className={styles.secret}>
      <Callout tone="warn">
        Copy the {what} now. The service keeps only what it needs to check it, and cannot show it again.
      </Callout>
      <div className={styles.line}>
        <code className={styles.value}>{value}</code>
        <CopyButton text={value} what={what} />
      </div>
    </div>
  );
}
