interface ErrorLike {
  name?: string;
  code?: string;
  message?: string;
  constraint?: string;
  cause?: unknown;
  errors?: unknown[];
}

/** There is no connection to the database: it does not respond, or refuses the connection. */
export class DatabaseUnavailableError extends Error {
  override name = 'DatabaseUnavailableError';

  /** @param cause why, if known */
  constructor(cause?: unknown) {
    super('The database cannot be used', { cause });
  }
}

// 08 connection, 53 insufficient resources, 57P01..57P05 shutdown and crash, 58 system; 57014 is statement_timeout,
// 25P03 a transaction that idled too long, 25P04 one that ran too long, 55P03 a lock that was not granted in time,
// 25006 a standby that is not promoted yet; 40001 and 40P01 mean to retry.
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

// Errors of pg and knex without a code. knex prefixes the statement, so only the end of a message is compared: a
// statement could contain the same words.
const LOST_MESSAGES = [
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client was closed and is not queryable',
  'Client has encountered a connection error and is not queryable',
  'Cannot use a pool after calling end on the pool',
  'Unable to acquire a connection',
];

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
 * Whether an error means that the database was unavailable (lost, restarting, hanging, out of connections or too slow),
 * rather than that it refused the statement. Includes `cause` and aggregated errors.
 */
export function isUnavailable(error: unknown): boolean {
  return some(
    error,
    ({ code, name, message }) =>
      (code !== undefined && (LOST_STATES.test(code) || LOST_SYSTEM_CODES.has(code))) ||
      (name !== undefined && LOST_NAMES.has(name)) ||
      (message !== undefined &&
        LOST_MESSAGES.some((lost) => message === lost || message.endsWith(`- ${lost}`))),
  );
}

/**
 * Whether an error is a unique violation.
 * @param constraint only a violation of this constraint or unique index counts
 */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return some(
    error,
    (each) => each.code === '23505' && (constraint === undefined || each.constraint === constraint),
  );
}

/**
 * A fault of the database that an operator can fix, in one line: it is unavailable, or the account lacks privileges.
 * @returns undefined for any other error
 */
export function operatorFault(error: unknown): string | undefined {
  const { code, message = '', cause } = (error ?? {}) as ErrorLike;
  if (isUnavailable(error)) {
    return `The database cannot be used: ${oneLine(cause === undefined ? message : String(cause))}.`;
  }
  // 42P07 is a table that exists but is not visible to the account.
  if (code !== '42501' && code !== '42P07') return undefined;
  return `The database refuses what its account must do: ${oneLine(message)}.`;
}

/** A message without the statement that knex prefixes. */
function oneLine(message: string): string {
  const at = message.lastIndexOf(' - ');
  return message.slice(at < 0 ? 0 : at + 3).replaceAll(/\s+/g, ' ');
}

/** Whether another session held a lock that was requested with NOWAIT. */
export function isLockedOut(error: unknown): boolean {
  return some(error, ({ code }) => code === '55P03');
}

/** Whether the database refused a value: it cannot be stored or compared in a column of that type. */
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
