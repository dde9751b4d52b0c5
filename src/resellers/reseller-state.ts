/** All of a price, in basis points. */
export const WHOLE = 10_000;

/**
 * What one key costs a reseller: the price less his commission, rounded up to the next minor unit, so that the developer
 * never gets less than his share.
 * @param priceMinor in minor units
 * @param marginBasisPoints the commission in hundredths of a percent, from 0 to 10000
 * @returns minor units, from 0 to the price
 */
export function costOfKey(priceMinor: number, marginBasisPoints: number): number {
  const share = BigInt(priceMinor) * BigInt(WHOLE - marginBasisPoints);
  return Number((share + BigInt(WHOLE - 1)) / BigInt(WHOLE));
}

/** What several keys cost: the rounded cost of one, so many times. It may be more than a number holds. */
export function costOfKeys(priceMinor: number, marginBasisPoints: number, amount: number): bigint {
  return BigInt(costOfKey(priceMinor, marginBasisPoints)) * BigInt(amount);
}
