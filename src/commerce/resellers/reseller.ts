import { invalidMember } from '../../foundation/errors/api-error.ts';
import { fromMinor, fromScaled, toScaled } from '../../foundation/money/money.ts';
import { BASIS_POINTS } from './reseller-state.ts';
import type { ResellerRow } from './reseller-store.ts';

/** Decimals of a commission: percent outside, basis points inside. */
const MARGIN_DIGITS = 2;

/** What a developer specifies of a new reseller. */
export interface NewReseller {
  readonly name: string;
  /** ISO 4217; it never changes. */
  readonly currency: string;
  /** The reseller's share of each price, in percent. */
  readonly commissionMargin: number;
}

/** A seller of a developer's license keys. Amounts are in units of the currency. */
export interface Reseller extends NewReseller {
  readonly resellerId: string;
  readonly balance: number;
  /** The part of reversed payments that exceeded the balance. Later credits pay it first. */
  readonly owed: number;
  /** The part of payments that exceeded the largest balance. It is credited as soon as the balance allows. */
  readonly waiting: number;
  /** Whether the reseller's tokens can only read. */
  readonly suspended: boolean;
  readonly createdAt: Date;
}

/** A commission as it is stored. @throws ApiError VALIDATION_FAILED */
export function toBasisPoints(commissionMargin: number): number {
  const basisPoints = toScaled(commissionMargin, MARGIN_DIGITS);
  if (basisPoints !== undefined && basisPoints <= BASIS_POINTS) return basisPoints;
  throw invalidMember('/commission_margin', 'must be a percentage from 0 to 100 with at most 2 decimals');
}

/** A stored commission in percent. */
export const fromBasisPoints = (basisPoints: number): number => fromScaled(basisPoints, MARGIN_DIGITS);

/** A reseller without its internal members. */
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
