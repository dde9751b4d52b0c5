import { isUnavailable } from './database/index.ts';

const LONGEST_REASON = 500;

/**
 * Whether a failure was caused by the row being processed, not by the database: its values are not valid, or the
 * database refuses them. Any other failure may be temporary and must not set a row aside.
 */
export function isRowFault(error: unknown): boolean {
  if (isUnavailable(error)) return false;
  if (error instanceof TypeError || error instanceof RangeError) return true;
  // 22 data exception, 23 integrity violation, 54 program limit exceeded, XX001 data corrupted.
  return /^(22|23|54|XX001)/.test((error as { code?: unknown } | null)?.code?.toString() ?? '');
}

/** The message of an error, short enough to store, without the database's `detail`, which contains values. */
export function reasonOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: string };
  const text = code === undefined ? String(error) : `${name ?? 'Error'} ${code}`;
  return text.replaceAll('\u0000', '').toWellFormed().slice(0, LONGEST_REASON);
}
