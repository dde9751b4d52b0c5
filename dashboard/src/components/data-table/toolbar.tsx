import { type ReactNode, useEffect, useState } from 'react';
import { IconButton } from '../button.tsx';
import { Icon } from '../icon.tsx';
import styles from './toolbar.module.css';

/** The filters and actions above a table. */
export function Toolbar({ children }: { readonly children: ReactNode }) {
  return (
    <div className={styles.toolbar} role="group" aria-label="Filters">
      {children}
    </div>
  );
}

interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const PAUSE_MS = 250;

/** A search that takes effect when the reader pauses, so that not every letter is a request. */
export function SearchField({ label, value, onChange }: SearchProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  const clear = () => {
    setText('');
    onChange('');
  };
  return (
    <div className={styles.search}>
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        // A link that is followed at once must not be undone by a search that comes after it.
        onBlur={() => text !== value && onChange(text)}
      />
      {text !== '' && <IconButton label="Clear the search" icon="close" onClick={clear} />}
    </div>
  );
}
