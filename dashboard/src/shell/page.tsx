import type { ReactNode } from 'react';
import styles from './page.module.css';

interface Props {
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page: its heading, its actions, and its content. */
export function Page({ title, description, actions, children }: Props) {
  return (
    <>
      <div className={styles.head}>
        <div className={styles.words}>
          <h1>{title}</h1>
          {description && <p className={styles.description}>{description}</p>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </>
  );
}

/** Parts of a page, one below the other. */
export function Stack({ children }: { readonly children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>;
}

/** Parts of a page, side by side where there is space. */
export function Columns({ children }: { readonly children: ReactNode }) {
  return <div className={styles.columns}>{children}</div>;
}
