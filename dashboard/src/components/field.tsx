import { type ComponentProps, type ReactNode, useId } from 'react';
import { classes } from '../lib/classes.ts';
import styles from './field.module.css';
import { Icon } from './icon.tsx';

interface Around {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** Hides the label from the eye, where the place explains the control. */
  readonly bare?: boolean;
}

function useParts({ hint, error }: Pick<Around, 'hint' | 'error'>) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return {
    id,
    aria: { id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined },
  };
}

function Frame({
  id,
  label,
  hint,
  error,
  bare,
  children,
}: Around & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={bare ? 'visually-hidden' : styles.label}>
        {label}
      </label>
      {children}
      {error && (
        <p id={`${id}-error`} className={styles.error}>
          {error}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A text field with its label, and below it what is wrong or what to enter. */
export function Field({ label, hint, error, bare, className, ...props }: Around & ComponentProps<'input'>) {
  const { id, aria } = useParts({ hint, error });
  return (
    <Frame id={id} label={label} hint={hint} error={error} bare={bare ?? false}>
      <input {...props} {...aria} className={classes(styles.control, className)} />
    </Frame>
  );
}

/** A field of several lines. */
export function TextArea({
  label,
  hint,
  error,
  bare,
  className,
  ...props
}: Around & ComponentProps<'textarea'>) {
  const { id, aria } = useParts({ hint, error });
  return (
    <Frame id={id} label={label} hint={hint} error={error} bare={bare ?? false}>
      <textarea rows={3} {...props} {...aria} className={classes(styles.control, styles.area, className)} />
    </Frame>
  );
}

/** A choice of one option. */
export function Select({
  label,
  hint,
  error,
  bare,
  options,
  ...props
}: Around &
  ComponentProps<'select'> & { readonly options: readonly (readonly [value: string, label: string])[] }) {
  const { id, aria } = useParts({ hint, error });
  return (
    <Frame id={id} label={label} hint={hint} error={error} bare={bare ?? false}>
      <span className={styles.select}>
        <select {...props} {...aria} className={styles.control}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <Icon name="chevron" />
      </span>
    </Frame>
  );
}

/** A box to check, with its text. */
export function Checkbox({ label, hint, bare, ...props }: Omit<Around, 'error'> & ComponentProps<'input'>) {
  const { id, aria } = useParts({ hint });
  return (
    <div className={classes(styles.choice, bare && styles.bare)}>
      <span className={styles.box}>
        <input type="checkbox" {...props} {...aria} />
        <Icon name="check" />
      </span>
      <label htmlFor={id} className={bare ? 'visually-hidden' : undefined}>
        {label}
      </label>
      {hint && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A setting that takes effect when it is switched. */
export function Switch({
  label,
  hint,
  busy,
  ...props
}: Omit<Around, 'error' | 'bare'> & ComponentProps<'input'> & { readonly busy?: boolean }) {
  const { id, aria } = useParts({ hint });
  return (
    <div className={styles.switchRow}>
      <div className={styles.switchText}>
        <label htmlFor={id}>{label}</label>
        {hint && (
          <p id={`${id}-hint`} className={styles.hint}>
            {hint}
          </p>
        )}
      </div>
      <input
        type="checkbox"
        role="switch"
        {...props}
        {...aria}
        aria-busy={busy || undefined}
        className={styles.switch}
      />
    </div>
  );
}
