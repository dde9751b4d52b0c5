import { LARGEST_MINOR } from '../../foundation/money/money.ts';

/** The amounts that the ledger gets for keys, in minor units. */
export interface Booking {
  /** The full price. */
  readonly gross: number;
  /** The reseller's part of it; 0 stands for no entry. */
  readonly commission: number;
  /** Whether gross and commission are separate entries, instead of one net entry. */
  readonly split: boolean;
}

/**
 * Splits the price of keys into ledger entries. The commission is a separate entry, unless the balance
 * between the two entries would exceed the largest one: then the net is a single entry.
 * @param balance before the entries
 * @param net the cost for the reseller
 * @param first the entry that adds to the balance, and so comes first
 */
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

/** What the balance can take of the waiting amount, and then pay of the debt. */
export function rebalance({ balance_minor: balance, owed_minor: owed, waiting_minor: waiting }: Balances): {
  readonly topUp: number;
  readonly reversal: number;
} {
  const topUp = Math.min(waiting, LARGEST_MINOR - balance);
  return { topUp, reversal: Math.min(owed, balance + topUp) };
}
