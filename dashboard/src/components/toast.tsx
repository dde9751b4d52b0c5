import { useEffect } from 'react';
import { withoutMarks } from '../lib/bidi.ts';
import { createStore, useStore } from '../lib/store.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import styles from './toast.module.css';

interface Toast {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 6_000;

const toasts = createStore<readonly Toast[]>([]);
let last = 0;

/** Says that something was done. A failure is shown where it happened. */
export function toast(text: string): void {
  last += 1;
  toasts.set([...toasts.get(), { id: last, text }].slice(-3));
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((shown) => shown.id !== id));
}

/** Where toasts appear: a live region that exists from the start, so that screen readers announce its changes. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className={styles.region} role="status" aria-live="polite">
      {shown.map((item) => (
        <Shown key={item.id} {...item} />
      ))}
    </div>
  );
}

function Shown({ id, text }: Toast) {
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div className={styles.toast}>
      <span className={styles.mark}>
        <Icon name="check" />
      </span>
      <span className={styles.text}>{withoutMarks(text)}</span>
      <IconButton label="Dismiss" icon="close" onClick={() => dismiss(id)} />
    </div>
  );
}
