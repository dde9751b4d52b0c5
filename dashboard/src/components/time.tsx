import { formatRecent, formatRelative, formatTime, formatUtc } from '../lib/format.ts';

interface Props {
  readonly value: string | null | undefined;
  /** `relative` reads like `3 hours ago`, and `recent` has seconds if it was today. */
  readonly form?: 'absolute' | 'relative' | 'recent';
  /** What stands for null. */
  readonly absent?: string;
}

/** The year of what never ends, such as a lifetime. */
const NEVER = /^9999-/;

const FORMATS = { absolute: formatTime, relative: formatRelative, recent: formatRecent };

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
