import { formatRecent, formatRelative, formatTime, formatUtc } from '../lib/format.ts';

type Form = 'absolute' | 'relative' | 'recent';

interface Props {
  readonly value: string | null | undefined;
  /** `relative` reads like `3 hours ago`, and `recent` has seconds if it was today. */
  readonly form?: Form;
  /** What stands for null. */
  readonly absent?: string;
}

/** The widths of columns with times, in which the longest one fits. Cells of a phone have less space around. */
export const TIME_WIDTHS: Readonly<Record<Form, string>> = {
  absolute: '14rem',
  relative: 'min(8.5rem, 28vw)',
  recent: '11rem',
};

/** The year of what never ends, such as a lifetime. */
const NEVER = /^9999-/;

const FORMATS: Readonly<Record<Form, (value: string) => string>> = {
  absolute: formatTime,
  relative: formatRelative,
  recent: formatRecent,
};

/** A time in the reader's zone. Hovering shows it exactly, in UTC. */
export function Time({ value, form = 'absolute', absent = '—' }: Props) {
  if (!value) return <>{absent}</>;
  if (NEVER.test(value)) return <>Never</>;
  const title = form === 'absolute' ? formatUtc(value) : `${formatTime(value)} (${formatUtc(value)})`;
  return (
    <time dateTime={value} title={title}>
      {FORMATS[form](value)}
    </time>
  );
}
