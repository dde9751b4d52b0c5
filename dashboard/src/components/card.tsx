import type { ReactNode } from 'react';
import { withoutMarks } from '../lib/bidi.ts';
import styles from './card.module.css';

interface Props {
  readonly title?: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page. */
export function Card({ title, description, actions, children }: Props) {
  return (
    <section className={styles.card} aria-label={title}>
      {title && (
        <div className={styles.head}>
          <div>
            <h2 className={styles.title}>{withoutMarks(title)}</h2>
            {description && <p className={styles.description}>{description}</p>}
          </div>
          {actions && <div className={styles.actions}>{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** Names and values, side by side where there is space. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
