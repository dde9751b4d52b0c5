import { describe, expect, test } from 'vitest';
import { fromMinor } from '../../../src/foundation/money/money.ts';
import { PaymentsError } from '../../../src/platform/payments/index.ts';
import { amountFault, fromStripe, toStripe } from '../../../src/platform/payments/stripe/amounts.ts';

describe('amounts at Stripe', () => {
  test.each([
    ['USD', 1_250, 1_250],
    ['JPY', 500, 500],
    ['KWD', 1_250, 1_250],
    // Stripe's documents: 5 ISK and 5 UGX are 500.
    ['ISK', 5, 500],
    ['UGX', 5, 500],
    // Likewise 10.45 HUF are 1045; amounts here have no fillér.
    ['HUF', 19_000, 1_900_000],
    ['LYD', 1_250, 125],
    ['EUR', 0, 0],
    ['USD', 99_999_999, 99_999_999],
  ])('%s: %i here are %i there', (currency, here, there) => {
    expect(toStripe(here, currency)).toBe(there);
    expect(fromStripe(there, currency)).toBe(here);
  });

  test('every currency converts back exactly, to the same value', () => {
    const hundredths = (currency: string) => toStripe(10_000, currency) / fromMinor(10_000, currency);
    for (const currency of Intl.supportedValuesOf('currency')) {
      expect(fromStripe(toStripe(10_000, currency), currency)).toBe(10_000);
      expect([1, 100, 1_000]).toContain(hundredths(currency));
    }
    const whole = Intl.supportedValuesOf('currency').filter((currency) => hundredths(currency) === 1);
    expect(whole.join(' ')).toBe('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF');
  });

  test('an amount that Stripe cannot represent is refused', () => {
    expect(() => toStripe(1_255, 'LYD')).toThrow(PaymentsError);
    // Stripe's documents: the last digit of thousandths must be 0.
    for (const currency of ['BHD', 'JOD', 'KWD', 'OMR', 'TND']) {
      expect(() => toStripe(1_255, currency)).toThrow(PaymentsError);
      expect(amountFault(1_255, currency)).toContain(`a multiple of 0.01 ${currency}`);
      expect(amountFault(1_250, currency)).toBeUndefined();
    }
    expect(() => toStripe(Number.MAX_SAFE_INTEGER, 'ISK')).toThrow(PaymentsError);
  });

  test('a prorated amount of Stripe is rounded', () => {
    expect(fromStripe(633_348, 'HUF')).toBe(6_333);
  });
});
