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

/** The columns of an import, and whether they are required. The last four are those of an export that are ignored. */
export const COLUMNS = {
  license_key: true,
  tier: true,
  duration_days: true,
  note: false,
  redeem_by: false,
  status: false,
  redeemed_at: false,
  ban_reason: false,
  license_id: false,
  redeemed_by: false,
  reseller_id: false,
  created_at: false,
};
type Column = keyof typeof COLUMNS;
const STATUSES = ['unused', 'redeemed', 'paused', 'banned'] as const;

/** A line of an import. */
export interface ImportedLicense {
  /** The text of the cell, trimmed. */
  readonly licenseKey: string;
  readonly tier: string;
  readonly durationDays: number | null;
  readonly note: string | null;
  readonly redeemBy: Date | null;
  readonly status: (typeof STATUSES)[number];
  readonly redeemedAt: Date | null;
  readonly banReason: string | null;
}

/**
 * Reads the cells of a line.
 * @param tiers the application's
 * @param now the time of redemption of a redeemed license without one
 * @returns the license, or what is wrong with the line
 */
export function readImportedLicense(
  cells: Line<Column>['cells'],
  tiers: readonly string[],
  now: Date,
): ImportedLicense | string[] {
  const { license_key = '', tier = '', duration_days = '', note = '', redeem_by = '' } = cells;
  const { redeemed_at = '', ban_reason = '' } = cells;
  const licenseKey = license_key.trim();
  const redeemBy = redeem_by === '' ? null : parseMoment(redeem_by);
  const redeemedAt = redeemed_at === '' ? null : parseMoment(redeemed_at);
  const { status: written = redeemed_at === '' ? 'unused' : 'redeemed' } = cells;
  const status = STATUSES.find((each) => each === written);
  const faults = [
    !isKey(licenseKey) &&
      'license_key must be 8 to 100 printable ASCII characters, without dashes and spaces, and not begin with =, ' +
        '+, - or @',
    !tiers.includes(tier) && `tier must be one of the application's: ${tiers.join(', ')}`,
    !isDuration(duration_days) && `duration_days must be 1 to ${MOST_DAYS}, or empty for a lifetime`,
    isTooLong(note) && `note must have at most ${LONGEST_NOTE} characters, and no NUL`,
    isTooLong(ban_reason) && `ban_reason must have at most ${LONGEST_NOTE} characters, and no NUL`,
    redeemBy === undefined && 'redeem_by must be a time by RFC 3339 in the years 1 to 9999, or empty',
    redeemedAt === undefined && 'redeemed_at must be a time by RFC 3339 in the years 1 to 9999, or empty',
    redeemedAt && redeemedAt > now && 'redeemed_at must not be in the future',
    // Only the status protects a key from a second redemption.
    redeemedAt && status === 'unused' && 'status must be redeemed, or empty, if there is a redeemed_at',
    status === undefined && `status must be ${STATUSES.join(', ')}, or empty`,
  ].filter((fault) => typeof fault === 'string');
  if (status === undefined || redeemedAt === undefined || faults.length > 0) return faults;
  return {
    licenseKey,
    tier,
    durationDays: duration_days === '' ? null : Number(duration_days),
    note: note === '' ? null : note,
    redeemBy: redeemBy ?? null,
    status,
    redeemedAt: redeemedAt ?? (status === 'redeemed' ? now : null),
    banReason: status === 'banned' && ban_reason !== '' ? ban_reason : null,
  };
}

function isTooLong(note: string): boolean {
  return [...note].length > LONGEST_NOTE || note.includes('\0');
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
