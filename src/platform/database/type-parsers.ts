import pg from 'pg';

const BYTEA = 17;
const INT8 = 20;
const INT8_ARRAY = 1016;
const TIMESTAMPTZ = 1184;
const TIMESTAMPTZ_ARRAY = 1185;
const TEXT_ARRAY = 1009;

const SPACE = 0x20;
const ZERO = 0x30;

// The limits of a Date, because an Invalid Date or a number would break code that compares or prints it.
const END_OF_TIME_MS = 8.64e15;

const parseDate = pg.types.getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => Date;
const parseTexts = pg.types.getTypeParser(TEXT_ARRAY as number, 'text') as (
  text: string,
) => (string | null)[];

/** timestamptz as a Date; 'infinity' is the latest time of a Date, '-infinity' the earliest. */
export function timestamp(text: string): Date {
  if (text === 'infinity') return new Date(END_OF_TIME_MS);
  if (text === '-infinity') return new Date(-END_OF_TIME_MS);
  // The common case: a year of four digits, in UTC.
  if (text.charCodeAt(10) === SPACE && text.endsWith('+00')) return utcTimestamp(text);
  return parseDate(text);
}

/** `2026-11-22 10:43:34.321+00`; fractions of a millisecond are truncated. */
function utcTimestamp(text: string): Date {
  let milliseconds = 0;
  for (let index = 20; index < 23; index++) {
    const digit = text.charCodeAt(index) - ZERO;
    milliseconds = milliseconds * 10 + (index < text.length - 3 ? digit : 0);
  }
  const date = new Date(0);
  date.setUTCFullYear(
    twoDigits(text, 0) * 100 + twoDigits(text, 2),
    twoDigits(text, 5) - 1,
    twoDigits(text, 8),
  );
  date.setUTCHours(twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17), milliseconds);
  return date;
}

function twoDigits(text: string, index: number): number {
  return (text.charCodeAt(index) - ZERO) * 10 + text.charCodeAt(index + 1) - ZERO;
}

/** int8 as a number; throws if a number cannot represent it exactly. */
export function bigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond 2^53`);
  return value;
}

/** bytea as bytes, in the form of `bytea_output = hex`. */
export const bytea = pg.types.getTypeParser(BYTEA, 'text') as (text: string) => Buffer;

function each<T>(parse: (text: string) => T): (text: string) => (T | null)[] {
  return (text) => parseTexts(text).map((value) => (value === null ? null : parse(value)));
}

const OURS = new Map<number, (text: string) => unknown>([
  [INT8, bigint],
  [INT8_ARRAY, each(bigint)],
  [TIMESTAMPTZ, timestamp],
  [TIMESTAMPTZ_ARRAY, each(timestamp)],
]);

/** Conversions of values to JavaScript, for the `types` option of a pool: int8 to number, timestamptz to Date. */
export const typeParsers = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && OURS.get(oid)) || pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;
