import type { Random } from '../platform/random.ts';

/** Crockford's base32: without I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_CHARACTERS = 24;
const GROUP = 5;

/** A new key: 24 random characters (120 bits) and a check character, in five groups of five. */
export function generateLicenseKey(random: Random): string {
  let payload = '';
  // 256 is a multiple of 32, so five bits of a byte are as random as the byte.
  for (const byte of random.bytes(RANDOM_CHARACTERS)) payload += ALPHABET[byte & 31];
  return formatLicenseKey(payload + checkCharacter(payload));
}

/** The form that people read: five groups joined by dashes. */
export function formatLicenseKey(canonical: string): string {
  return canonical.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
}

/**
 * The form in which keys are compared. Case, dashes and white space do not matter; O is read as 0, I and L as 1.
 * @returns 25 characters; undefined when the input cannot be a key, a mistyped character among the reasons
 */
export function canonicalLicenseKey(input: string): string | undefined {
  // Before upper-casing, which makes letters of the alphabet of others, such as ſ and ı.
  if (!/^[0-9A-Za-z\s-]*$/.test(input)) return undefined;
  const canonical = input.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  if (!/^[0-9A-HJKMNP-TV-Z]{25}$/.test(canonical)) return undefined;
  const payload = canonical.slice(0, RANDOM_CHARACTERS);
  return canonical === payload + checkCharacter(payload) ? canonical : undefined;
}

/** Luhn's algorithm modulo 32: finds every mistyped character and nearly every swapped pair of neighbours. */
function checkCharacter(payload: string): string {
  let sum = 0;
  [...payload].reverse().forEach((character, index) => {
    const value = ALPHABET.indexOf(character) * (index % 2 === 0 ? 2 : 1);
    sum += Math.floor(value / ALPHABET.length) + (value % ALPHABET.length);
  });
  return ALPHABET[(ALPHABET.length - (sum % ALPHABET.length)) % ALPHABET.length]!;
}
