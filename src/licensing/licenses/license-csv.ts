import { csvOf } from '../../foundation/tabular-data/tabular-data.ts';
import type { License } from './license.ts';

const PART = 500;

const CREATED_COLUMNS = {
  licenseKey: 'license_key',
  tier: 'tier',
  durationDays: 'duration_days',
  note: 'note',
  redeemBy: 'redeem_by',
  licenseId: 'license_id',
} as const;

const COLUMNS = {
  ...CREATED_COLUMNS,
  status: 'status',
  redeemedAt: 'redeemed_at',
  redeemedBy: 'redeemed_by',
  resellerId: 'reseller_id',
  banReason: 'ban_reason',
  createdAt: 'created_at',
} as const;

/** New licenses as CSV, in chunks of text. */
export function createdLicensesCsv(made: readonly License[]): AsyncGenerator<string> {
  return csvOf(inParts(made), CREATED_COLUMNS);
}

/** Licenses with all columns as CSV, in chunks of text. */
export function licensesCsv(parts: AsyncIterable<readonly License[]>): AsyncGenerator<string> {
  return csvOf(parts, COLUMNS);
}

function* inParts(licenses: readonly License[]): Generator<readonly License[]> {
  for (let start = 0; start < licenses.length; start += PART) yield licenses.slice(start, start + PART);
}
