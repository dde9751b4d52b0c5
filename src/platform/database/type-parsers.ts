import pg from 'pg';

const INT8 = 20;
const INT8_ARRAY = 1016;
const TIMESTAMPTZ = 1184;
const TIMESTAMPTZ_ARRAY = 1185;
const TEXT_ARRAY = 1009;

// The ends of what a Date can hold, since an Invalid Date or a number would break whoever compares or prints it.
const END_OF_TIME_MS = 8.64e15;

const parseDate = pg.types.getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => Date;
const parseTexts = pg.types.getTypeParser(TEXT_ARRAY as number, 'text') as (
  text: string,
) => (string | null)[];

/** timestamptz as a Date; 'infinity' is the last moment a Date can hold, '-infinity' the first. */
function timestamp(text: string): Date {
  if (text === 'infinity') return new Date(END_OF_TIME_MS);
  if (text === '-infinity') return new Date(-END_OF_TIME_MS);
  return parseDate(text);
}

/** int8 as a number; refuses one that a number cannot hold exactly. */
function bigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond 2^53`);
  return value;
}

function each<T>(parse: (text: string) => T): (text: string) => (T | null)[] {
  return (text) => parseTexts(text).map((value) => (value === null ? null : parse(value)));
}

const OURS = new Map<number, (text: string) => unknown>([
  [INT8, bigint],
  [INT8_ARRAY, each(bigint)],
  [TIMESTAMPTZ, timestamp],
  [TIMESTAMPTZ_ARRAY, each(timestamp)],
]);

/** How values become JavaScript's, for the `types` option of a pool: int8 a number, timestamptz a Date. */
export const typeParsers = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && OURS.get(oid)) || pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;
