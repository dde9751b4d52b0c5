import { isUnavailable } from './database/index.ts';

const LONGEST_REASON = 500;

/**
 * Whether what failed is to blame on the row that was worked on, not on the database: its values cannot be computed with, or
 * the database refuses them. Anything else may pass, and must not set a row aside.
 */
export function isRowFault(error: unknown): boolean {
  if (isUnavailable(error)) return false;
  if (error instanceof TypeError || error instanceof RangeError) return true;
  // 22 data exception, 23 integrity violation, 54 program limit exceeded, XX001 a row that the database has lost a part of.
  return /^(22|23|54|XX001)/.test((error as { code?: unknown } | null)?.code?.toString() ?? '');
}

/** What an error says, short enough to be kept. The database's own detail, which holds values, is not part of it. */
export function reasonOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: string };
  const text = code === undefined ? String(error) : `${name ?? 'Error'} ${code}`;
  return text.replaceAll('\u0000', '').toWellFormed().slice(0, LONGEST_REASON);
}
