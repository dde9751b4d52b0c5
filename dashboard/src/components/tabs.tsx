import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import styles from './tabs.module.css';

interface Tab {
  readonly id: string;
  readonly label: string;
  readonly content: ReactNode;
}

interface Props {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly onChange: (id: string) => void;
}

/** Several contents in one place. The page keeps the current one in its address. */
export function Tabs({ label, tabs, current, onChange }: Props) {
  return (
    <Base.Root value={current} onValueChange={(value) => onChange(String(value))} className={styles.root}>
      <Base.List className={styles.list} aria-label={label}>
        {tabs.map(({ id, label: text }) => (
          <Base.Tab key={id} value={id} className={styles.tab}>
            {text}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id} className={styles.panel}>
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
