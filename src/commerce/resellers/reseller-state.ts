/** 100 percent in basis points. */
export const BASIS_POINTS = 10_000;

/**
 * The cost of one key for a reseller: the price less the commission, rounded up to the next minor unit, so
 * that the developer never gets less than their share.
 * @param priceMinor in minor units
 * @param marginBasisPoints the commission in hundredths of a percent, from 0 to 10000
 * @returns minor units, from 0 to the price
 */
export function costOfKey(priceMinor: number, marginBasisPoints: number): number {
  const share = BigInt(priceMinor) * BigInt(BASIS_POINTS - marginBasisPoints);
  return Number((share + BigInt(BASIS_POINTS - 1)) / BigInt(BASIS_POINTS));
}

/** The cost of several keys: the rounded cost of one, multiplied. It may exceed the largest safe integer. */
export function costOfKeys(priceMinor: number, marginBasisPoints: number, amount: number): bigint {
  return BigInt(costOfKey(priceMinor, marginBasisPoints)) * BigInt(amount);
}
