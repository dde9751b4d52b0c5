import { type ReactNode, useState } from 'react';
import { Button } from '../button.tsx';
import styles from './filter-bar.module.css';
import { Toolbar } from './toolbar.tsx';

interface Props {
  readonly children: ReactNode;
  /** The filters that are needed less often, below the others. */
  readonly more: ReactNode;
  /** How many of those limit the list. */
  readonly active: number;
}

/** The filters above a table, of which the rarer ones open on demand. */
export function FilterBar({ children, more, active }: Props) {
  const [isOpen, setOpen] = useState(active > 0);
  return (
    <div className={styles.filters}>
      <Toolbar>
        {children}
        <Button icon="filter" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          More filters
          {active > 0 && (
            <span className={styles.active}>
              {active}
              <span className="visually-hidden"> active</span>
            </span>
          )}
        </Button>
      </Toolbar>
      {isOpen && (
        <div className={styles.more} role="group" aria-label="More filters">
          {more}
        </div>
      )}
    </div>
  );
}
