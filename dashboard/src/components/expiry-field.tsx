import { DAY_MS } from '../lib/days.ts';
import { fromLocalInput } from '../lib/format.ts';
import { Field, Select } from './field.tsx';

/** When something ends: a number of days from now, `never`, or `date` for the moment in `until`. */
export interface Expiry {
  readonly after: string;
  /** As `<input type="datetime-local">` gives it. */
  readonly until: string;
}

export const IN_90_DAYS: Expiry = { after: '90', until: '' };
export const NEVER: Expiry = { after: 'never', until: '' };

const OPTIONS = [
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['date', 'On a date'],
  ['never', 'Never'],
] as const;

/** The time as the API takes it; null is never. */
export function expiryTime({ after, until }: Expiry): string | null {
  if (after === 'never') return null;
  if (after === 'date') return fromLocalInput(until);
  return new Date(Date.now() + Number(after) * DAY_MS).toISOString();
}

interface Props {
  readonly value: Expiry;
  readonly error?: string | undefined;
  readonly onChange: (value: Expiry) => void;
}

/** A choice of when something ends. */
export function ExpiryField({ value, error, onChange }: Props) {
  const isDate = value.after === 'date';
  return (
    <>
      <Select
        label="Expires"
        value={value.after}
        options={OPTIONS}
        error={isDate ? undefined : error}
        hint={value.after === 'never' ? 'A token that never expires works until you revoke it.' : undefined}
        onChange={({ target }) => onChange({ ...value, after: target.value })}
      />
      {isDate && (
        <Field
          label="Date"
          type="datetime-local"
          required
          value={value.until}
          error={error}
          onChange={({ target }) => onChange({ ...value, until: target.value })}
        />
      )}
    </>
  );
}
