import type { ReactNode } from 'react';
import styles from './name.module.css';

/** The class of a link that is a name in a list. */
export const nameClass = styles.name;

/** A name that others chose: it cannot change the direction of the text around it, or be wider than its place. */
export function Name({ children }: { readonly children: string }) {
  return (
    <bdi className={styles.plain} title={children}>
      {children}
    </bdi>
  );
}

interface Props {
  readonly onClick: () => void;
  /** The whole name, if the content is not a text. */
  readonly title?: string;
  readonly children: ReactNode;
}

/** A name in a list that opens its details. */
export function NameButton({ onClick, title, children }: Props) {
  const name = typeof children === 'string' ? children : title;
  return (
    <button type="button" className={styles.name} title={name} onClick={onClick}>
      <bdi>{children}</bdi>
    </button>
  );
}
