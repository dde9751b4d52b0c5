import styles from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

interface Props {
  readonly text: string;
  /** What it is, such as `payload`. */
  readonly what: string;
}

/** Code of several lines, to read or to copy. */
export function CodeBlock({ text, what }: Props) {
  return (
    <div className={styles.block}>
      <pre tabIndex={0} role="group" aria-label={what}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
