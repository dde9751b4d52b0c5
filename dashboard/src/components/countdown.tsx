import { useEffect, useState } from 'react';
import styles from './countdown.module.css';

const pad = (value: number) => String(value).padStart(2, '0');

interface Props {
  /** When it ends. */
  readonly until: string;
  /** Runs at the end, once for each `until`. */
  readonly onEnd?: () => void;
}

/** The time that is left, to the second. */
export function Countdown({ until, onEnd }: Props) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((Date.parse(until) - now) / 1000));
  const isOver = seconds === 0;
  useEffect(() => {
    if (isOver) onEnd?.();
    // Not again for another function: the end is one moment.
  }, [isOver, until]);
  const days = Math.floor(seconds / 86_400);
  const clock = [(seconds / 3600) % 24, (seconds / 60) % 60, seconds % 60].map((part) =>
    pad(Math.floor(part)),
  );
  return (
    <strong className={styles.clock} role="timer">
      {days > 0 && `${days} d `}
      {clock.join(':')}
    </strong>
  );
}
