import type { ReactNode } from 'react';
import { classes } from '../lib/classes.ts';
import styles from './badge.module.css';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

/** A state in a word. Its color only repeats what the word says. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return <span className={classes(styles.badge, styles[tone])}>{children}</span>;
}
