import type { Problem } from '../api/problem.ts';
import { classes } from '../lib/classes.ts';
import { plural } from '../lib/format.ts';
import { Button } from './button.tsx';
import styles from './live-bar.module.css';

interface Props {
  readonly state: 'connecting' | 'connected' | 'failed';
  readonly failure: Problem['details'] | undefined;
  readonly onRetry: () => void;
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}

const WORDS = { connecting: 'Connecting', connected: 'Live', failed: 'Not connected' };

/** Whether a list shows what happens now, and how to stop it from moving. */
export function LiveBar({ state, failure, onRetry, isPaused, onPause }: Props) {
  const isLive = state === 'connected' && !isPaused;
  return (
    <div className={styles.bar}>
      <span className={classes(styles.state, styles[isLive ? 'live' : state])} role="status">
        <span className={styles.dot} aria-hidden="true" />
        {isPaused && state === 'connected' ? 'Paused' : WORDS[state]}
        {state === 'failed' && failure && <span className={styles.reason}>{failure.title}</span>}
      </span>
      {state === 'failed' && <Button onClick={onRetry}>Connect now</Button>}
      <Button icon={isPaused ? 'play' : 'pause'} onClick={() => onPause(!isPaused)}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
    </div>
  );
}

interface WaitingProps {
  readonly count: number;
  /** What has arrived, such as `event`. */
  readonly noun: string;
  readonly onShow: () => void;
}

/** Shows how much has arrived while the reader did not want rows to move. */
export function WaitingButton({ count, noun, onShow }: WaitingProps) {
  if (count === 0) return null;
  return (
    <div className={styles.waiting}>
      <Button look="primary" icon="up" onClick={onShow}>
        Show {plural(count, `new ${noun}`)}
      </Button>
    </div>
  );
}
