import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatMinor,
  fromMinor,
  isCurrency,
  LARGEST_MINOR,
  minorDigits,
  toMinor,
} from '../../src/foundation/money/money.ts';

const CURRENCIES = ['JPY', 'USD', 'EUR', 'KWD', 'CLF'];
const currency = fc.constantFrom(...CURRENCIES);
const minor = fc.integer({ min: 0, max: LARGEST_MINOR });

test.each([
  ['JPY', 0],
  ['USD', 2],
  ['KWD', 3],
  ['CLF', 4],
])('%s has %d decimals', (code, digits) => {
  expect(minorDigits(code)).toBe(digits);
});

test.each(['USD', 'JPY', 'KWD'])('%s is a currency', (code) => expect(isCurrency(code)).toBe(true));
test.each(['ABC', 'usd', 'US', ''])('%j is not a currency', (code) => expect(isCurrency(code)).toBe(false));

describe('minor units and the number on the wire', () => {
  test('every amount survives a round trip, also through JSON', () => {
    fc.assert(
      fc.property(minor, currency, (amount, code) => {
        const wire = JSON.parse(JSON.stringify(fromMinor(amount, code))) as number;
        expect(toMinor(wire, code)).toBe(amount);
      }),
      { numRuns: 2000 },
    );
  });

  test('the number is the usual decimal', () => {
    fc.assert(
      fc.property(minor, currency, (amount, code) => {
        const [text] = formatMinor(amount, code).split(' ');
        expect(fromMinor(amount, code)).toBe(Number(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('neighboring amounts are never the same number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: LARGEST_MINOR - 1 }), currency, (amount, code) => {
        expect(fromMinor(amount, code)).toBeLessThan(fromMinor(amount + 1, code));
      }),
    );
    expect(fromMinor(LARGEST_MINOR - 1, 'USD')).toBeLessThan(fromMinor(LARGEST_MINOR, 'USD'));
  });

  test('any number is refused or stored exactly', () => {
    fc.assert(
      fc.property(fc.double(), currency, (amount, code) => {
        const held = toMinor(amount, code);
        if (held === undefined) return;
        expect(Number.isSafeInteger(held)).toBe(true);
        expect(Object.is(fromMinor(held, code), amount)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});

test.each([
  [0, 'USD', 0],
  [0.07, 'USD', 7],
  [0.29, 'USD', 29],
  [1.15, 'USD', 115],
  [4.35, 'USD', 435],
  [1e3, 'USD', 100_000],
  [1.001, 'KWD', 1001],
  [9_999_999_999_999.99, 'USD', LARGEST_MINOR],
  [999_999_999_999_999, 'JPY', LARGEST_MINOR],
])('%d %s is %d', (amount, code, held) => {
  expect(toMinor(amount, code)).toBe(held);
});

test.each([
  [0.001, 'USD'],
  [0.1 + 0.2, 'USD'],
  [1.5, 'JPY'],
  [1.0001, 'KWD'],
  [-0, 'USD'],
  [-1, 'USD'],
  [-0.01, 'USD'],
  [1e-7, 'USD'],
  [NaN, 'USD'],
  [Infinity, 'USD'],
  [-Infinity, 'USD'],
  [10_000_000_000_000, 'USD'],
  [2 ** 53, 'JPY'],
  [1e15, 'JPY'],
  [1e21, 'JPY'],
  [1e300, 'JPY'],
])('%d %s is out of range', (amount, code) => {
  expect(toMinor(amount, code)).toBeUndefined();
});

test.each([
  [5, 'USD', '0.05 USD'],
  [1250, 'USD', '12.50 USD'],
  [0, 'USD', '0.00 USD'],
  [7, 'JPY', '7 JPY'],
  [1, 'KWD', '0.001 KWD'],
  [10n ** 20n, 'USD', '1000000000000000000.00 USD'],
])('%d of %s in words: %s', (amount, code, text) => {
  expect(formatMinor(amount, code)).toBe(text);
});
