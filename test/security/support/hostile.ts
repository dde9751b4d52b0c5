import fc from 'fast-check';

/** Runs of every generated property. The seed is fixed, and fast-check prints it with a failure. */
export const SEED = 20_261_121;

const repeat = (text: string, times: number) => text.repeat(times);

/** Text that has broken programs before. Lone surrogates are among them. */
export const NAUGHTY_STRINGS: readonly string[] = [
  '',
  ' ',
  '\t\r\n',
  '\u0000',
  'a\u0000b',
  '\u0001\u0007\u001b[31m',
  '\u007f\u0080\u0085\u009f',
  '\ud800',
  'a\udfffb',
  '\udc00\ud800',
  '\u200b\u200c\u200d',
  '\u202etxt.exe',
  '\u2066a\u2069',
  '\ufeffbom',
  '\ufffe\uffff',
  '\u00adsoft\u00adhyphen',
  '\u2028\u2029',
  '👩‍👩‍👧‍👦',
  '🏳️‍🌈🇺🇳',
  '𝒽𝒾 𝕿𝖍𝖊 ℌ𝔢𝔩𝔭',
  `e${repeat('\u0301', 200)}`,
  `${repeat('\u0315\u0300', 32)}`,
  repeat('\ufdfa', 64),
  repeat('ß', 64),
  repeat('ﬃ', 64),
  'ıİiIſßẞσς',
  '\u0130\u0307',
  "' OR 1=1 --",
  "'; DROP TABLE users; --",
  '$1 ? ?? :name $$',
  '\\',
  '\\x00',
  '%00%ff%ZZ',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '{{7*7}}${7*7}#{7*7}',
  '../../../../etc/passwd',
  '() { :; }; echo x',
  'constructor',
  '__proto__',
  'prototype',
  'toString',
  'hasOwnProperty',
  'undefined',
  'null',
  'true',
  'NaN',
  'Infinity',
  '-0',
  '0x10',
  '1e400',
  '9223372036854775808',
  'http://a/%%30%30',
  'a@b',
  'a@b.c\r\nBcc: d@e.f',
  repeat('a', 65),
  repeat('a', 257),
  repeat('a', 5_000),
  repeat('💣', 128),
  repeat('(', 4_000),
];

/** Edge cases of dates, as `redeem_by` may be written. */
export const NAUGHTY_DATES: readonly string[] = [
  '0000-01-01T00:00:00Z',
  '0000-01-01T00:00:00+23:59',
  '0001-01-01T00:00:00Z',
  '1582-10-10T00:00:00Z',
  '1970-01-01T00:00:00.000Z',
  '2016-12-31T23:59:60Z',
  '2016-12-31T23:59:60.999Z',
  '2016-12-31T15:59:60-08:00',
  '2026-02-29T00:00:00Z',
  '2026-11-21T10:00:00.123456789Z',
  '2026-11-21t10:00:00z',
  '2026-11-21 10:00:00Z',
  '2026-11-21T10:00:00+05',
  '2026-11-21T10:00:00+0530',
  '2026-11-21T10:00:00-00:00',
  '2026-11-21T10:00:00+23:59',
  '2026-11-21T10:00:00+24:00',
  '2026-11-21T10:00:00',
  '2026-11-21T10:00Z',
  '2026-11-21T24:00:00Z',
  '2026-11-21T10:00:61Z',
  '2026-13-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.9999Z',
  '9999-12-31T23:59:59-23:59',
  '9999-12-31T23:59:60Z',
  '+010000-01-01T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '10000-01-01T00:00:00Z',
  'infinity',
  'now',
  'epoch',
];

/** Edge cases of numbers, as JSON text. */
export const NUMBERS: readonly string[] = [
  '0',
  '-0',
  '-0.0',
  '1',
  '1.0',
  '1e0',
  '1E+2',
  '0.1',
  '-1',
  '1e-400',
  '5e-324',
  '2147483647',
  '2147483648',
  '4294967296',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  '123456789012345678901234567890',
  '1e308',
  '1e400',
  '-1e400',
  '1e99999',
  '36500',
  '36501',
];

/** Values of the wrong type, as JSON text. */
export const STRUCTURES: readonly string[] = [
  'true',
  'false',
  'null',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '["a","a"]',
  '["__proto__"]',
  '[{"a":[null,{"b":{}}]}]',
  '{"length":1}',
  '{"toString":null,"valueOf":1}',
  '{"constructor":{"prototype":{"role":"admin"}}}',
  '{"then":"x"}',
  '{"toJSON":"x"}',
  '{"$ref":"#"}',
  '{"0":"a","1":"b"}',
];

/** JSON text of a string, as JSON.stringify writes it: lone surrogates as escapes. */
export const toJson = (text: string): string => JSON.stringify(text);

/** JSON text of hostile values. */
export const hostileJson: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(...STRUCTURES),
  fc.constantFrom(...NAUGHTY_STRINGS, ...NAUGHTY_DATES).map(toJson),
  fc.string({ unit: 'binary', maxLength: 80 }).map(toJson),
  fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)),
);

/** Whether a parsed body contains what is always refused: lone surrogates and `__proto__`. */
export function hasRefusedText(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) => name === '__proto__' || !name.isWellFormed() || hasRefusedText(member),
  );
}

/** All but the first of equal places get one in so many values, and the next place gets the following ones. */
const EVERY = 24;

/**
 * Spreads values over places with the same rule: the first place gets all of them.
 * @returns the values for one more place with the key
 */
export function spread(): (key: unknown, values: readonly string[]) => readonly string[] {
  const places = new Map<unknown, number>();
  return (key, values) => {
    const before = places.get(key) ?? 0;
    places.set(key, before + 1);
    return before === 0 ? values : values.filter((_, index) => index % EVERY === before % EVERY);
  };
}
