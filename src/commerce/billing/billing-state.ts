/** The refunds and disputes of a payment. */
export interface Reversal {
  /** In minor units, all refunds together. */
  readonly refunded_minor: number;
  /** Null without a dispute. */
  readonly dispute: 'open' | 'won' | 'lost' | null;
}

/** Whether the payer's bank has the money, for now or for good. */
export function isDisputed({ dispute }: Reversal): boolean {
  return dispute === 'open' || dispute === 'lost';
}

/** Whether nothing is left of a payment. A payment of 0, which a credit has covered, is never reversed. */
export function isReversed(amountMinor: number, reversal: Reversal): boolean {
  return isDisputed(reversal) || (amountMinor > 0 && reversal.refunded_minor >= amountMinor);
}

/**
 * The part of a pack that its payer is entitled to. A partial refund takes back the same part of the pack,
 * rounded down, so that the payer keeps everything that is still paid for.
 * @param units the size of the pack
 * @param amountMinor its price
 */
export function unitsDue(units: number, amountMinor: number, reversal: Reversal): number {
  if (isReversed(amountMinor, reversal)) return 0;
  const taken = (BigInt(units) * BigInt(reversal.refunded_minor)) / BigInt(Math.max(amountMinor, 1));
  return units - Number(taken);
}

/** The facts that decide whether a paid plan is in force. */
export interface PaidPlan {
  readonly state: 'pending' | 'active' | 'past_due' | 'ended';
  readonly paid: boolean;
  readonly reversed: boolean;
}

/** Whether a plan is in force: it was paid, its subscription runs, and the payment was not reversed. */
export function isInForce({ state, paid, reversed }: PaidPlan): boolean {
  return paid && !reversed && (state === 'active' || state === 'past_due');
}
