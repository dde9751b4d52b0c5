import type { Line } from '../../foundation/tabular-data/tabular-data.ts';
import { MOST_DAYS } from './license.ts';
import { isStorable } from './generation.ts';
import { canonicalLicenseKey } from './license-key.ts';

/** The maximum length of a key in a request. */
const LONGEST_KEY = 128;
const LONGEST_NOTE = 500;
/** RFC 3339, section 5.6. */
const MOMENT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** The columns of an import. */
type Column = 'key' | 'tier' | 'duration_days' | 'note' | 'redeem_by' | 'status';

/** A line of an import. */
export interface ImportedLicense {
  /** The text of the cell, trimmed. */
  readonly licenseKey: string;
  readonly tier: string;
  readonly durationDays: number | null;
  readonly note: string | null;
  readonly redeemBy: Date | null;
  readonly status: 'unused' | 'banned';
}

/**
 * Reads the cells of a line.
 * @param tiers the application's
 * @returns the license, or what is wrong with the line
 */
export function readImportedLicense(
  cells: Line<Column>['cells'],
  tiers: readonly string[],
): ImportedLicense | string[] {
  const { key = '', tier = '', duration_days = '', note = '', redeem_by = '', status = '' } = cells;
  const licenseKey = key.trim();
  const redeemBy = redeem_by === '' ? null : parseMoment(redeem_by);
  const faults = [
    !isKey(licenseKey) &&
      'key must be 8 to 100 printable ASCII characters, without dashes and spaces, and not begin with =, +, - or @',
    !tiers.includes(tier) && `tier must be one of the application's: ${tiers.join(', ')}`,
    !isDuration(duration_days) && `duration_days must be 1 to ${MOST_DAYS}, or empty for a lifetime`,
    ([...note].length > LONGEST_NOTE || note.includes('\0')) &&
      `note must have at most ${LONGEST_NOTE} characters, and no NUL`,
    redeemBy === undefined && 'redeem_by must be a time by RFC 3339 in the years 1 to 9999, or empty',
    !['', 'unused', 'banned'].includes(status) && 'status must be unused, banned or empty',
  ].filter((fault) => fault !== false);
  if (faults.length > 0) return faults;
  return {
    licenseKey,
    tier,
    durationDays: duration_days === '' ? null : Number(duration_days),
    note: note === '' ? null : note,
    redeemBy: redeemBy ?? null,
    status: status === 'banned' ? 'banned' : 'unused',
  };
}

function isKey(text: string): boolean {
  if (text.length > LONGEST_KEY || !/^[ -~]+$/.test(text) || /^[=+\-@]/.test(text)) return false;
  return canonicalLicenseKey(text) !== undefined;
}

function isDuration(cell: string): boolean {
  return cell === '' || (/^[1-9]\d{0,4}$/.test(cell) && Number(cell) <= MOST_DAYS);
}

/** @returns undefined if the text is not a time that can be stored */
function parseMoment(text: string): Date | undefined {
  const [, year, month, day] = MOMENT.exec(text) ?? [];
  if (year === undefined) return undefined;
  // Date reads February 30 as a day in March.
  if (Number(day) < 1 || Number(day) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()) {
    return undefined;
  }
  const moment = new Date(text.toUpperCase());
  return isStorable(moment) ? moment : undefined;
}
