import { csvOf } from '../tables/tables.ts';
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

/** New licences as a table, a part of its text at a time. */
export function createdLicensesCsv(made: readonly License[]): AsyncGenerator<string> {
  return csvOf(inParts(made), CREATED_COLUMNS);
}

/** Licences with all that is known of them as a table, a part of its text at a time. */
export function licensesCsv(parts: AsyncIterable<readonly License[]>): AsyncGenerator<string> {
  return csvOf(parts, COLUMNS);
}

function* inParts(licenses: readonly License[]): Generator<readonly License[]> {
  for (let start = 0; start < licenses.length; start += PART) yield licenses.slice(start, start + PART);
}
