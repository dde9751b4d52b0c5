import fc from 'fast-check';
import { expect, test } from 'vitest';
import { costOfKey, costOfKeys } from '../../src/commerce/resellers/reseller-state.ts';

const price = fc.integer({ min: 0, max: 999_999_999_999_999 });
const margin = fc.integer({ min: 0, max: 10_000 });

test.each([
  // A tenth of a cent less is a cent more.
  [999, 1250, 875],
  [1000, 1250, 875],
  [1, 1, 1],
  [1, 9_999, 1],
  [1, 10_000, 0],
  [0, 0, 0],
  [0, 5_000, 0],
  [10_000, 1, 9_999],
  [3, 5_000, 2],
  [999_999_999_999_999, 0, 999_999_999_999_999],
  [999_999_999_999_999, 1, 999_900_000_000_000],
])('a key of %d at a commission of %d basis points costs %d', (priceMinor, basisPoints, cost) => {
  expect(costOfKey(priceMinor, basisPoints)).toBe(cost);
});

test('is rounded up: never less than the share of the developer, and less than one unit above it', () => {
  fc.assert(
    fc.property(price, margin, (priceMinor, basisPoints) => {
      const cost = BigInt(costOfKey(priceMinor, basisPoints)) * 10_000n;
      const share = BigInt(priceMinor) * BigInt(10_000 - basisPoints);
      expect(cost >= share && cost - share < 10_000n).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('is an integer from 0 to the price, and never grows with the commission', () => {
  fc.assert(
    fc.property(price, margin, margin, (priceMinor, first, second) => {
      const [low, high] = [Math.min(first, second), Math.max(first, second)];
      const costs = [costOfKey(priceMinor, low), costOfKey(priceMinor, high)] as const;
      expect(costs.every(Number.isSafeInteger)).toBe(true);
      expect(costs[0]).toBeGreaterThanOrEqual(costs[1]);
      expect(costs[1]).toBeGreaterThanOrEqual(0);
      expect(costs[0]).toBeLessThanOrEqual(priceMinor);
    }),
    { numRuns: 2000 },
  );
});

test('several keys cost a multiple of one, however they are split into purchases', () => {
  fc.assert(
    fc.property(price, margin, fc.nat(1000), fc.nat(1000), (priceMinor, basisPoints, some, more) => {
      const cost = (amount: number) => costOfKeys(priceMinor, basisPoints, amount);
      expect(cost(some) + cost(more)).toBe(cost(some + more));
      expect(cost(1)).toBe(BigInt(costOfKey(priceMinor, basisPoints)));
    }),
  );
});
