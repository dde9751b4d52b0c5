import type { ComponentProps } from 'react';
import { classes } from '../lib/classes.ts';
import styles from './button.module.css';
import { Icon, type IconName } from './icon.tsx';

interface Look {
  /** `primary` for the one action of a form or page, `danger` for what cannot be undone. */
  readonly look?: 'primary' | 'plain' | 'quiet' | 'danger';
  readonly icon?: IconName;
  /** Shows that the action is running, and accepts no further click. */
  readonly busy?: boolean;
}

/** The class names of a button, for a link that looks like one. */
export function buttonClass({ look = 'plain' }: Pick<Look, 'look'> = {}): string {
  return classes(styles.button, styles[look]);
}

export function Button({ look, icon, busy, className, children, ...props }: Look & ComponentProps<'button'>) {
  return (
    <button
      type="button"
      {...props}
      className={classes(buttonClass(look ? { look } : {}), className)}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : props.onClick}
    >
      {busy ? <span className={styles.spinner} aria-hidden="true" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconLook extends Pick<Look, 'look'> {
  readonly label: string;
  readonly icon: IconName;
}

/** A button that shows only an icon. */
export function IconButton({
  label,
  icon,
  look = 'quiet',
  className,
  ...props
}: IconLook & ComponentProps<'button'>) {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      {...props}
      className={classes(buttonClass({ look }), styles.square, className)}
    >
      <Icon name={icon} />
    </button>
  );
}
