import { PaymentsError } from '../errors.ts';

/** The currencies that Stripe counts in whole units or thousandths; it counts all others in hundredths. */
const WHOLE = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ');
const THOUSANDTHS = 'BHD JOD KWD OMR TND'.split(' ');

const HUNDREDTHS = 2;

function digitsAtStripe(currency: string): number {
  if (WHOLE.includes(currency)) return 0;
  return THOUSANDTHS.includes(currency) ? 3 : HUNDREDTHS;
}

/** The decimals of the service's minor units. */
function digitsHere(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits!;
}

/**
 * An amount in Stripe's smallest unit. For most currencies that is our minor unit, but the króna, the forint and others
 * have no decimals here and two at Stripe.
 * @throws PaymentsError `amount` if Stripe cannot represent it exactly
 */
export function toStripe(amountMinor: number, currency: string): number {
  const amount = toStripeUnits(amountMinor, currency);
  if (amount !== undefined) return amount;
  throw new PaymentsError('amount', `Stripe cannot take ${amountMinor} minor units of ${currency}`);
}

/** What is wrong with an amount; undefined if Stripe accepts it. */
export function amountFault(amountMinor: number, currency: string): string | undefined {
  if (toStripeUnits(amountMinor, currency) !== undefined) return undefined;
  const step = digitsHere(currency) > HUNDREDTHS ? `: a multiple of 0.01 ${currency}` : '';
  return `must be an amount that Stripe takes${step}`;
}

function toStripeUnits(amountMinor: number, currency: string): number | undefined {
  const amount = scaled(amountMinor, digitsAtStripe(currency) - digitsHere(currency));
  // Stripe counts thousandths, but requires the last digit to be 0.
  const step = THOUSANDTHS.includes(currency) ? 10 : 1;
  return Number.isSafeInteger(amount) && amount % step === 0 ? amount : undefined;
}

/**
 * An amount of Stripe in our minor units, rounded: an amount that Stripe prorates may have decimals that the currency
 * does not have here. An amount from `toStripe` is returned exactly.
 */
export function fromStripe(amount: number, currency: string): number {
  return Math.round(scaled(amount, digitsHere(currency) - digitsAtStripe(currency)));
}

/** Divides instead of multiplying by 0.01, which is not exact. */
function scaled(amount: number, digits: number): number {
  return digits < 0 ? amount / 10 ** -digits : amount * 10 ** digits;
}
