import { invalidMember } from '../errors/api-error.ts';
import { fromMinor, fromScaled, toScaled } from '../money/money.ts';
import { WHOLE } from './reseller-state.ts';
import type { ResellerRow } from './reseller-store.ts';

/** Decimals of a commission: percent outside, basis points inside. */
const MARGIN_DIGITS = 2;

/** What a developer tells of a new one. */
export interface NewReseller {
  readonly name: string;
  /** ISO 4217; it never changes. */
  readonly currency: string;
  /** What the reseller keeps of each price, in percent. */
  readonly commissionMargin: number;
}

/** Somebody who sells a developer's licence keys. Amounts are in units of the currency. */
export interface Reseller extends NewReseller {
  readonly resellerId: string;
  readonly balance: number;
  /** Of payments that were taken back: what the balance did not have. Whatever comes onto it pays this first. */
  readonly owed: number;
  /** What was paid and the balance, being full, does not hold. It comes onto it as soon as there is room. */
  readonly waiting: number;
  /** Then nothing can be changed with the reseller's tokens. */
  readonly suspended: boolean;
  readonly createdAt: Date;
}

/** A commission as rows have it. @throws ApiError VALIDATION_FAILED */
export function toBasisPoints(commissionMargin: number): number {
  const basisPoints = toScaled(commissionMargin, MARGIN_DIGITS);
  if (basisPoints !== undefined && basisPoints <= WHOLE) return basisPoints;
  throw invalidMember('/commission_margin', 'must be a percentage of 0 to 100 with at most 2 decimals');
}

/** A commission as the domain shows it. */
export const fromBasisPoints = (basisPoints: number): number => fromScaled(basisPoints, MARGIN_DIGITS);

/** A row as the domain shows it. */
export function toReseller(row: ResellerRow): Reseller {
  return {
    resellerId: row.reseller_id,
    name: row.name,
    currency: row.currency,
    balance: fromMinor(row.balance_minor, row.currency),
    owed: fromMinor(row.owed_minor, row.currency),
    waiting: fromMinor(row.waiting_minor, row.currency),
    commissionMargin: fromBasisPoints(row.margin_basis_points),
    suspended: row.suspended_at !== null,
    createdAt: row.created_at,
  };
}
