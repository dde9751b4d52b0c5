import type { ReactNode } from 'react';
import { TextArea } from './field.tsx';

interface Props {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The entries of a field with one entry on each line. */
export const linesOf = (value: string): string[] =>
  value
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** A list of texts, one on each line. */
export function LinesField({ onChange, ...props }: Props) {
  return (
    <TextArea
      rows={2}
      spellCheck={false}
      autoComplete="off"
      {...props}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
