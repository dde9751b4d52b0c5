/**
 * The largest amount, in minor units: 15 digits, which a JSON number represents exactly in every currency.
 * Above 2^46 units, two adjacent cents would be the same number.
 */
export const LARGEST_MINOR = 999_999_999_999_999;

/** Whether a code is a currency of ISO 4217. */
export function isCurrency(code: string): boolean {
  return Intl.supportedValuesOf('currency').includes(code);
}

/** The number of decimals of a currency (ISO 4217). */
export function minorDigits(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits!;
}

/** Converts minor units, such as cents, to units. */
export function fromMinor(minor: number, currency: string): number {
  return fromScaled(minor, minorDigits(currency));
}

/**
 * Converts units to minor units, such as cents.
 * @returns undefined when the currency cannot represent the amount exactly: too many decimals, too large,
 *   negative (-0 too) or not finite
 */
export function toMinor(amount: number, currency: string): number | undefined {
  return toScaled(amount, minorDigits(currency));
}

/** Formats an amount for people: `12.50 USD`. */
export function formatMinor(minor: number | bigint, currency: string): string {
  const digits = minorDigits(currency);
  const text = String(minor).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  return `${digits === 0 ? whole : `${whole}.${text.slice(-digits)}`} ${currency}`;
}

/** Divides by 10^digits. */
export function fromScaled(scaled: number, digits: number): number {
  return scaled / 10 ** digits;
}

/**
 * Multiplies by 10^digits exactly, using the decimal digits, because 0.07 * 100 is more than 7.
 * @returns undefined when the result is not an integer from 0 to LARGEST_MINOR; -0 is not either
 */
export function toScaled(value: number, digits: number): number | undefined {
  // Numbers above 1e21 or below 1e-6 are formatted with an exponent; all of them are out of range.
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? [];
  if (whole === undefined || decimals.length > digits || Object.is(value, -0)) return undefined;
  const scaled = Number(whole + decimals.padEnd(digits, '0'));
  return scaled <= LARGEST_MINOR ? scaled : undefined;
}
