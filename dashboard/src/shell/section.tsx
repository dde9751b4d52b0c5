import type { ReactNode } from 'react';
import { Stack } from './page.tsx';
import styles from './section.module.css';

interface Props {
  /** What has this kind of access. */
  readonly description: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A tab of a page: what it is about, what can be done, and the list. */
export function Section({ description, actions, children }: Props) {
  return (
    <Stack>
      <div className={styles.top}>
        <p>{description}</p>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </Stack>
  );
}
