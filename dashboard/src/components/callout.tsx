import type { ReactNode } from 'react';
import { classes } from '../lib/classes.ts';
import styles from './callout.module.css';

interface Props {
  readonly tone?: 'info' | 'warn' | 'bad' | 'good';
  readonly children: ReactNode;
}

/** A remark apart from the text around it. */
export function Callout({ tone = 'info', children }: Props) {
  return <div className={classes(styles.callout, styles[tone])}>{children}</div>;
}
