/** What has become of a payment since it was made. */
export interface Reversal {
  /** In minor units, all refunds together. */
  readonly refunded_minor: number;
  /** Null when there was none. */
  readonly dispute: 'open' | 'won' | 'lost' | null;
}

/** Whether the payer's bank has the money, for now or for good. */
export function isDisputed({ dispute }: Reversal): boolean {
  return dispute === 'open' || dispute === 'lost';
}

/** Whether nothing is left of a payment. One of nothing, which a credit has covered, is never taken back. */
export function isReversed(amountMinor: number, reversal: Reversal): boolean {
  return isDisputed(reversal) || (amountMinor > 0 && reversal.refunded_minor >= amountMinor);
}

/**
 * How much of a pack its payer is due: of what was refunded the same part of the pack is taken back, rounded down, so that
 * nobody loses what is still paid.
 * @param units what the pack adds when it is paid in full
 * @param amountMinor what was paid for it
 */
export function unitsDue(units: number, amountMinor: number, reversal: Reversal): number {
  if (isReversed(amountMinor, reversal)) return 0;
  const taken = (BigInt(units) * BigInt(reversal.refunded_minor)) / BigInt(Math.max(amountMinor, 1));
  return units - Number(taken);
}

/** A paid plan, as far as it matters for which one is in force. */
export interface PaidPlan {
  readonly state: 'pending' | 'active' | 'past_due' | 'ended';
  readonly paid: boolean;
  readonly reversed: boolean;
}

/** Whether a plan gives what it promises: it was paid, its subscription runs, and the payment is still ours. */
export function isInForce({ state, paid, reversed }: PaidPlan): boolean {
  return paid && !reversed && (state === 'active' || state === 'past_due');
}
