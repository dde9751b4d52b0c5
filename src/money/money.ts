/**
 * The largest amount, in minor units: 15 digits, which a number on the wire holds exactly in every currency. From 2^46 on
 * two neighbouring cents would be the same number.
 */
export const LARGEST_MINOR = 999_999_999_999_999;

/** Whether a code is one of ISO 4217. */
export function isCurrency(code: string): boolean {
  return Intl.supportedValuesOf('currency').includes(code);
}

/** How many decimals a currency's amounts have (ISO 4217). */
export function minorDigits(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits!;
}

/** Minor units, such as cents, as a number of whole units. */
export function fromMinor(minor: number, currency: string): number {
  return fromScaled(minor, minorDigits(currency));
}

/**
 * A number of whole units in minor units, such as cents.
 * @returns undefined when the currency cannot hold it exactly: too many decimals, too large, negative (-0 too), not finite
 */
export function toMinor(amount: number, currency: string): number | undefined {
  return toScaled(amount, minorDigits(currency));
}

/** An amount in words, for people: `12.50 USD`. */
export function formatMinor(minor: number | bigint, currency: string): string {
  const digits = minorDigits(currency);
  const text = String(minor).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  return `${digits === 0 ? whole : `${whole}.${text.slice(-digits)}`} ${currency}`;
}

/** The number that is `scaled` divided by 10^digits. */
export function fromScaled(scaled: number, digits: number): number {
  return scaled / 10 ** digits;
}

/**
 * A number times 10^digits, exactly: by its decimal digits, since 0.07 * 100 is more than 7.
 * @returns undefined when that is no integer from 0 to LARGEST_MINOR; -0 is none
 */
export function toScaled(value: number, digits: number): number | undefined {
  // Numbers from 1e21 on, and below 1e-6, are written with an exponent: none of them can be held.
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? [];
  if (whole === undefined || decimals.length > digits || Object.is(value, -0)) return undefined;
  const scaled = Number(whole + decimals.padEnd(digits, '0'));
  return scaled <= LARGEST_MINOR ? scaled : undefined;
}
