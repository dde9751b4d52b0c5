import type { ReactNode } from 'react';
import { classes } from '../lib/classes.ts';
import { sentenceCase } from '../lib/format.ts';
import styles from './badge.module.css';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

/** A state in a word, which begins with a capital letter. Its color only repeats what the word says. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  const words = typeof children === 'string' ? sentenceCase(children) : children;
  return <span className={classes(styles.badge, styles[tone])}>{words}</span>;
}
