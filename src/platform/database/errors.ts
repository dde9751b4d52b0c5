interface ErrorLike {
  name?: string;
  code?: string;
  message?: string;
  constraint?: string;
  cause?: unknown;
  errors?: unknown[];
}

/** No connection to the database is to be had: it does not answer, or does not let us in. */
export class DatabaseUnavailableError extends Error {
  override name = 'DatabaseUnavailableError';

  /** @param cause why, where it was asked */
  constructor(cause?: unknown) {
    super('The database cannot be used', { cause });
  }
}

// 08 connection, 53 insufficient resources, 57P01..57P05 shutdown and crash, 58 system; 57014 is statement_timeout, 25P03
// a transaction that idled too long, 25P04 one that took too long, 55P03 a lock that did not come in time, 25006 a standby that
// has not taken over yet;
// 40001 and 40P01 ask to try again.
const LOST_STATES = /^(08...|53...|57P0\d|58...|57014|25P0[34]|55P03|25006|40001|40P01)$/;

const LOST_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAGAIN',
  'ERR_STREAM_DESTROYED',
]);

// pg and knex give these no code. knex puts the statement in front: only the end of a message counts, or a statement that
// happens to contain such words would be mistaken.
const LOST_MESSAGES =
  /(^|- )(Connection terminated( unexpectedly| due to connection timeout)?|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client was closed and is not queryable|Client has encountered a connection error and is not queryable|Cannot use a pool after calling end on the pool|Unable to acquire a connection)$/;

const LOST_NAMES = new Set(['DatabaseUnavailableError', 'KnexTimeoutError']);

const UNSTORABLE_STATES = new Set([
  '22001', // too long
  '22003', // number out of range
  '22007', // not a date
  '22008', // date out of range
  '22021', // NUL, or bytes that are not UTF-8
  '22P02', // text that is not of the column's type
  '22P03',
  '22P05', // \u0000 in jsonb
]);

/**
 * Whether an error means that the database could not be used just now (lost, restarting, hanging, out of connections or
 * too slow), rather than that it refused what it was asked. Looks through `cause` and collected errors.
 */
export function isUnavailable(error: unknown): boolean {
  return some(
    error,
    ({ code, name, message }) =>
      (code !== undefined && (LOST_STATES.test(code) || LOST_SYSTEM_CODES.has(code))) ||
      (name !== undefined && LOST_NAMES.has(name)) ||
      (message !== undefined && LOST_MESSAGES.test(message)),
  );
}

/**
 * Whether an error is the database's refusal of a second equal row.
 * @param constraint only a violation of this constraint or unique index counts
 */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return some(
    error,
    (each) => each.code === '23505' && (constraint === undefined || each.constraint === constraint),
  );
}

/**
 * What an operator can mend of the database, in one line: it cannot be used just now, or its account may do too little.
 * @returns undefined for any other error
 */
export function operatorFault(error: unknown): string | undefined {
  const { code, message = '', cause } = (error ?? {}) as ErrorLike;
  if (isUnavailable(error)) {
    return `The database cannot be used: ${oneLine(cause === undefined ? message : String(cause))}.`;
  }
  // 42P07 is a table that the account cannot see.
  if (code !== '42501' && code !== '42P07') return undefined;
  return `The database refuses what its account must do: ${oneLine(message)}.`;
}

/** A message without the statement that knex puts in front. */
function oneLine(message: string): string {
  const at = message.lastIndexOf(' - ');
  return message.slice(at < 0 ? 0 : at + 3).replaceAll(/\s+/g, ' ');
}

/** Whether a lock that was not to be waited for was held by somebody else. */
export function isLockedOut(error: unknown): boolean {
  return some(error, ({ code }) => code === '55P03');
}

/** Whether the database refused a value itself: it cannot be stored or compared in a column of that type. */
export function isUnstorableInput(error: unknown): boolean {
  return some(error, ({ code }) => code !== undefined && UNSTORABLE_STATES.has(code));
}

function some(error: unknown, matches: (error: ErrorLike) => boolean, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false;
  const each = error as ErrorLike;
  if (matches(each)) return true;
  return [each.cause, ...(Array.isArray(each.errors) ? each.errors : [])].some((inner) =>
    some(inner, matches, depth + 1),
  );
}
