import { LARGEST_MINOR } from '../money/money.ts';

/** What keys come to in the ledger, in minor units. */
export interface Booking {
  /** At the full price. */
  readonly gross: number;
  /** What of that is the reseller's; 0 is no entry. */
  readonly commission: number;
  /** Whether gross and commission are booked, or the net alone. */
  readonly split: boolean;
}

/**
 * How keys are booked. The commission is an entry of its own, unless a balance cannot hold that for the moment between two
 * entries: then the net is one entry.
 * @param balance before it
 * @param net what the keys cost the reseller
 * @param first which of the two entries adds to the balance, and so comes first
 */
export function booking(balance: number, gross: bigint, net: bigint, first: 'commission' | 'gross'): Booking {
  const commission = gross - net;
  const split = BigInt(balance) + (first === 'gross' ? gross : commission) <= BigInt(LARGEST_MINOR);
  if (!split) return { gross: Number(net), commission: 0, split };
  return { gross: Number(gross), commission: Number(commission), split };
}

/** Money of a reseller, in minor units: on the balance, and beside it. */
export interface Holdings {
  readonly balance_minor: number;
  /** Of payments that were taken back: what the balance did not have. */
  readonly owed_minor: number;
  /** What was paid and the balance, being full, does not hold. */
  readonly waiting_minor: number;
}

/** What a balance takes in of what waits, and then pays of what is owed. */
export function settlement({ balance_minor: balance, owed_minor: owed, waiting_minor: waiting }: Holdings): {
  readonly topUp: number;
  readonly reversal: number;
} {
  const topUp = Math.min(waiting, LARGEST_MINOR - balance);
  return { topUp, reversal: Math.min(owed, balance + topUp) };
}
