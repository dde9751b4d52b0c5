import { useId } from 'react';
import styles from './choices.module.css';
import { Checkbox } from './field.tsx';

/** An option of `Choices`. */
export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

interface Props<Value extends string> {
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly options: readonly Choice<Value>[];
  readonly chosen: readonly Value[];
  readonly onChange: (chosen: readonly Value[]) => void;
}

/** A choice of several options, each with an explanation. The result keeps the order of the options. */
export function Choices<Value extends string>({
  label,
  hint,
  error,
  options,
  chosen,
  onChange,
}: Props<Value>) {
  const id = useId();
  const toggle = (value: Value, isChosen: boolean) =>
    onChange(
      options
        .map((option) => option.value)
        .filter((other) => (other === value ? isChosen : chosen.includes(other))),
    );
  return (
    <fieldset className={styles.choices} aria-describedby={error ? `${id}-error` : undefined}>
      <legend className={styles.label}>{label}</legend>
      {hint && <p className={styles.hint}>{hint}</p>}
      {options.map(({ value, label: text, hint: explanation }) => (
        <Checkbox
          key={value}
          label={text}
          hint={explanation}
          checked={chosen.includes(value)}
          onChange={({ target }) => toggle(value, target.checked)}
        />
      ))}
      {error && (
        <p id={`${id}-error`} className={styles.error}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
