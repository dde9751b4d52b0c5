import { asProblem } from '../api/problem.ts';
import { classes } from '../lib/classes.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import styles from './error-state.module.css';

interface Props {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** Inside a form or a dialog. */
  readonly compact?: boolean;
}

/** Why a request failed, what to do, and the request id for the operator. */
export function ErrorState({ error, onRetry, compact }: Props) {
  const { details } = asProblem(error);
  return (
    <div className={classes(styles.error, compact && styles.compact)} role="alert">
      <p className={styles.title}>{details.title}</p>
      <p>{details.detail}</p>
      {details.errors && details.errors.length > 0 && (
        <ul className={styles.faults}>
          {details.errors.map(({ pointer, detail }) => (
            <li key={pointer + detail}>
              <code>{pointer}</code> {detail}
            </li>
          ))}
        </ul>
      )}
      {details.hint && <p className={styles.soft}>{details.hint}</p>}
      {(details.code || details.request_id) && (
        <p className={styles.facts}>
          {details.code &&
            (details.docs_url ? (
              <a href={details.docs_url} target="_blank" rel="noreferrer">
                <code>{details.code}</code>
              </a>
            ) : (
              <code>{details.code}</code>
            ))}
          {details.request_id && (
            <span className={styles.request}>
              <code>{details.request_id}</code>
              <CopyButton text={details.request_id} what="request id" />
            </span>
          )}
        </p>
      )}
      {onRetry && (
        <div>
          <Button onClick={onRetry}>Try again</Button>
        </div>
      )}
    </div>
  );
}
