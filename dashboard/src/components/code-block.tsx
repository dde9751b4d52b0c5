import styles from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

interface Props {
  readonly text: string;
  /** What it is, such as `payload`. */
  readonly what: string;
  /** Breaks a text that is one long word, which would end at the edge. */
  readonly isWord?: boolean;
}

/** Code of several lines, to read or to copy. */
export function CodeBlock({ text, what, isWord }: Props) {
  return (
    <div className={styles.block}>
      <pre tabIndex={0} role="group" aria-label={what} data-word={isWord}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
