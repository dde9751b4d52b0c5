import type { Random } from '../../platform/random.ts';

/** Crockford's base32: without I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_CHARACTERS = 24;
const GROUP = 5;
const MASK_LENGTH = 100;
/** Five bits each: 80 together. */
const MASK_RANDOM_CHARACTERS = 16;
/** Fewer random characters could be guessed. */
const FEWEST_CHARACTERS = 8;
const MOST_CHARACTERS = 100;

/** A new key: 24 random characters (120 bits) and a check character, in five groups of five. */
export function generateLicenseKey(random: Random): string {
  const payload = randomCharacters(random, RANDOM_CHARACTERS);
  return formatLicenseKey(payload + checkCharacter(payload));
}

/** A new key by a mask of the developer: each `*` becomes a random character. */
export function generateMaskedKey(random: Random, mask: string): string {
  const characters = randomCharacters(random, mask.split('*').length - 1);
  let next = 0;
  return mask.replace(/\*/g, () => characters[next++]!);
}

/** Whether a mask is valid: ASCII letters, digits and dashes, and at least 16 `*`; at most 100 characters. */
export function isKeyMask(mask: string): boolean {
  return (
    mask.length <= MASK_LENGTH &&
    /^[0-9A-Za-z*][0-9A-Za-z*-]*$/.test(mask) &&
    mask.split('*').length - 1 >= MASK_RANDOM_CHARACTERS
  );
}

/** The display form: five groups joined by dashes. */
export function formatLicenseKey(canonical: string): string {
  return canonical.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
}

/**
 * The form in which all keys are compared. Case, dashes and white space do not matter; O is read as 0, I
 * and L as 1.
 * @returns 8 to 100 characters; undefined if the input cannot be a key
 */
export function canonicalLicenseKey(input: string): string | undefined {
  // Before upper-casing, which maps some other letters to ASCII, such as ſ and ı.
  if (!/^[!-~\s]*$/.test(input)) return undefined;
  const canonical = input.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  return canonical.length >= FEWEST_CHARACTERS && canonical.length <= MOST_CHARACTERS ? canonical : undefined;
}

/**
 * The check character of a generated key, with which a program can detect a mistyped key before it sends it: Luhn's
 * algorithm modulo 32, which detects every mistyped character and nearly every swap of adjacent ones.
 * @param payload the 24 characters before it
 */
export function checkCharacter(payload: string): string {
  let sum = 0;
  [...payload].reverse().forEach((character, index) => {
    const value = ALPHABET.indexOf(character) * (index % 2 === 0 ? 2 : 1);
    sum += Math.floor(value / ALPHABET.length) + (value % ALPHABET.length);
  });
  return ALPHABET[(ALPHABET.length - (sum % ALPHABET.length)) % ALPHABET.length]!;
}

function randomCharacters(random: Random, amount: number): string {
  let characters = '';
  // 256 is a multiple of 32, so five bits of a byte are as random as the byte.
  for (const byte of random.bytes(amount)) characters += ALPHABET[byte & 31];
  return characters;
}
