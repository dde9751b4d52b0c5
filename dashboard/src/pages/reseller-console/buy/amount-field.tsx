import { useId } from 'react';
import { IconButton } from '../../../components/button.tsx';
import styles from './buy.module.css';

interface Props {
  readonly value: string;
  readonly most: number;
  readonly onChange: (value: string) => void;
}

const USUAL = [1, 5, 10, 25, 100] as const;

/** How many keys, by thumb or by keyboard. */
export function AmountField({ value, most, onChange }: Props) {
  const id = useId();
  const current = /^\d+$/.test(value) ? Number(value) : 0;
  const set = (next: number) => onChange(String(Math.min(most, Math.max(1, next))));
  return (
    <div className={styles.amount}>
      <label htmlFor={id} className={styles.legend}>
        Number of keys
      </label>
      <div className={styles.stepper}>
        <IconButton label="One less" icon="minus" disabled={current <= 1} onClick={() => set(current - 1)} />
        <input
          id={id}
          type="number"
          inputMode="numeric"
          min={1}
          max={most}
          required
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
        <IconButton
          label="One more"
          icon="plus"
          disabled={current >= most}
          onClick={() => set(current + 1)}
        />
      </div>
      <div className={styles.usual} role="group" aria-label="Usual numbers">
        {USUAL.map((number) => (
          <button
            key={number}
            type="button"
            className={styles.chip}
            aria-pressed={current === number}
            onClick={() => set(number)}
          >
            {number}
          </button>
        ))}
      </div>
    </div>
  );
}
