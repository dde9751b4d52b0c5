import { LARGEST_MINOR } from '../../foundation/money/money.ts';

/** The ledger entries of a sale of keys, in minor units. */
export interface Booking {
  /** The full price. */
  readonly gross: number;
  /** The reseller's part of it; 0 stands for no entry. */
  readonly commission: number;
  /** Whether gross and commission are separate entries, instead of one net entry. */
  readonly split: boolean;
}

/** @param first the entry that adds to the balance, which comes before the others */
export function booking(balance: number, gross: bigint, net: bigint, first: 'commission' | 'gross'): Booking {
  const commission = gross - net;
  const split = BigInt(balance) + (first === 'gross' ? gross : commission) <= BigInt(LARGEST_MINOR);
  if (!split) return { gross: Number(net), commission: 0, split };
  return { gross: Number(gross), commission: Number(commission), split };
}

/** A reseller's money in minor units: the balance, and what is due outside it. */
export interface Balances {
  readonly balance_minor: number;
  /** The part of reversed payments that exceeded the balance. */
  readonly owed_minor: number;
  /** The part of payments that exceeded the largest balance. */
  readonly waiting_minor: number;
}

/** How much of the waiting amount fits into the balance, and how much of the debt it then pays. */
export function rebalance({ balance_minor: balance, owed_minor: owed, waiting_minor: waiting }: Balances): {
  readonly topUp: number;
  readonly reversal: number;
} {
  const topUp = Math.min(waiting, LARGEST_MINOR - balance);
  return { topUp, reversal: Math.min(owed, balance + topUp) };
}
