import { type ReactNode, useEffect, useId, useState } from 'react';
import { classes } from '../lib/classes.ts';
import styles from './file-drop.module.css';
import { Icon } from './icon.tsx';

interface Props {
  readonly label: string;
  readonly children: ReactNode;
  readonly onFile: (file: File) => void;
}

/** Takes a file that the user chooses, or drops anywhere on the page. */
export function FileDrop({ label, children, onFile }: Props) {
  const id = useId();
  const isOver = useDrop(onFile);
  return (
    <div className={classes(styles.drop, isOver && styles.over)}>
      <Icon name="upload" />
      <div className={styles.words}>
        <label htmlFor={id} className={styles.label}>
          {label}
        </label>
        <p id={`${id}-hint`} className={styles.hint}>
          {children}
        </p>
      </div>
      <input
        id={id}
        type="file"
        className={styles.input}
        aria-describedby={`${id}-hint`}
        onChange={({ target }) => {
          const file = target.files?.[0];
          // The same file can be chosen again.
          target.value = '';
          if (file) onFile(file);
        }}
      />
    </div>
  );
}

/** Listens on the whole page: elsewhere, the browser would leave it and open the file. */
function useDrop(onFile: (file: File) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file) onFile(file);
    };
    document.addEventListener('dragover', over);
    document.addEventListener('dragleave', leave);
    document.addEventListener('drop', drop);
    return () => {
      document.removeEventListener('dragover', over);
      document.removeEventListener('dragleave', leave);
      document.removeEventListener('drop', drop);
    };
  });
  return isOver;
}
