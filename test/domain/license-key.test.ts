import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalLicenseKey,
  checkCharacter,
  generateLicenseKey,
  generateMaskedKey,
  isKeyMask,
} from '../../src/licensing/licenses/license-key.ts';
import {
  isNotEarlier,
  redeemability,
  statusAfter,
  type LicenseStatus,
} from '../../src/licensing/licenses/license-state.ts';
import { systemRandom } from '../../src/platform/random.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const key = fc.uint8Array({ minLength: 24, maxLength: 24 }).map((bytes) => {
  return generateLicenseKey({ bytes: () => Buffer.from(bytes) });
});

test('a key is five groups of five characters of the alphabet', () => {
  fc.assert(
    fc.property(
      key,
      (made) => void expect(made).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/),
    ),
  );
});

test('case, dashes and look-alikes do not matter', () => {
  fc.assert(
    fc.property(key, (made) => {
      const canonical = made.replaceAll('-', '');
      expect(canonicalLicenseKey(made)).toBe(canonical);
      expect(canonicalLicenseKey(` ${made.toLowerCase().replaceAll('-', ' ')}\n`)).toBe(canonical);
      expect(canonicalLicenseKey(made.replaceAll('0', 'o').replaceAll('1', 'l'))).toBe(canonical);
      expect(canonicalLicenseKey(made.replaceAll('0', 'O').replaceAll('1', 'I'))).toBe(canonical);
    }),
  );
});

test('the check character detects a mistyped character', () => {
  const change = fc.record({ made: key, place: fc.nat(24), by: fc.integer({ min: 1, max: 31 }) });
  fc.assert(
    fc.property(change, ({ made, place, by }) => {
      const characters = [...made.replaceAll('-', '')];
      characters[place] = ALPHABET[(ALPHABET.indexOf(characters[place]!) + by) % 32]!;
      const payload = characters.slice(0, 24).join('');
      expect(characters[24]).not.toBe(checkCharacter(payload));
    }),
    { numRuns: 500 },
  );
});

test.each([
  '',
  '-',
  'AAAAA',
  '0000000',
  '0-0-0-0-0-0-0',
  '0'.repeat(101),
  'ABCDEFG\u0131',
  'ABCDEFG\u017f',
  'ABCDEFGH\u0000',
  'ABCDEFGHÄ',
  'ÄÖÜ',
  '\u0000',
])('%j is not a key', (input) => expect(canonicalLicenseKey(input)).toBeUndefined());

test('keys use the whole alphabet', () => {
  const seen = new Set(
    Array.from({ length: 200 }, () => generateLicenseKey(systemRandom))
      .join('')
      .replaceAll('-', ''),
  );
  expect([...seen].sort().join('')).toBe(ALPHABET);
});

test('a license can be redeemed up to and including redeem_by', () => {
  const redeem_by = new Date('2026-11-21T10:00:00.000Z');
  const at = (milliseconds: number) => new Date(redeem_by.getTime() + milliseconds);
  expect(redeemability({ status: 'unused', redeem_by }, at(0))).toBe('redeemable');
  expect(redeemability({ status: 'unused', redeem_by }, at(1))).toBe('unusable');
  expect(redeemability({ status: 'unused', redeem_by: null }, at(1))).toBe('redeemable');
  expect(redeemability({ status: 'redeemed', redeem_by }, at(1))).toBe('used');
  for (const status of ['banned', 'paused'] as const) {
    expect(redeemability({ status, redeem_by: null }, at(0))).toBe('unusable');
  }
});

test.each([
  ['0000-0000', '00000000'],
  [' aurora-o1il-x ', 'AUR0RA0111X'],
  ['{7f3a-99c1}!~"', '{7F3A99C1}!~"'],
  ['u'.repeat(100), 'U'.repeat(100)],
])('%j is read as %s', (input, canonical) => {
  expect(canonicalLicenseKey(input)).toBe(canonical);
  expect(canonicalLicenseKey(canonical)).toBe(canonical);
});

test('inputs are the same key only if they differ in case, dashes, white space and look-alikes', () => {
  const plain = (text: string) =>
    text.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
  const input = fc.string({ unit: fc.constantFrom(...'0OoIil1L-\tABu{'), minLength: 8, maxLength: 12 });
  fc.assert(
    fc.property(input, input, (a, b) => {
      const [first, second] = [canonicalLicenseKey(a), canonicalLicenseKey(b)];
      if (first !== undefined && second !== undefined) expect(first === second).toBe(plain(a) === plain(b));
    }),
    { numRuns: 1000 },
  );
});

describe('a mask', () => {
  const MASK = 'AURORA-*****-*****-*****-*';

  test('keeps its letters and makes each * a random character', () => {
    const made = generateMaskedKey(systemRandom, MASK);
    expect(made).toMatch(/^AURORA(-[0-9A-HJKMNP-TV-Z]{5}){3}-[0-9A-HJKMNP-TV-Z]$/);
    expect(generateMaskedKey(systemRandom, MASK)).not.toBe(made);
    const own = generateMaskedKey(
      { bytes: (size) => Buffer.from([...Array(size).keys()]) },
      'i-' + '*'.repeat(16),
    );
    expect(own).toBe('i-0123456789ABCDEF');
  });

  test.each([MASK, '*'.repeat(16), '*'.repeat(100), `a${'*'.repeat(16)}-Z9-`])('may be %s', (mask) => {
    expect(isKeyMask(mask)).toBe(true);
    expect(canonicalLicenseKey(generateMaskedKey(systemRandom, mask))).toBeDefined();
  });

  test.each([
    '',
    '*'.repeat(15),
    '*'.repeat(101),
    `-${'*'.repeat(16)}`,
    `=${'*'.repeat(16)}`,
    `Ä${'*'.repeat(16)}`,
    `A ${'*'.repeat(16)}`,
    `A_${'*'.repeat(16)}`,
    `${'*'.repeat(16)}\n`,
  ])('may not be %j', (mask) => expect(isKeyMask(mask)).toBe(false));
});

test('bans and pauses change the status, and their reversals restore it', () => {
  const at = new Date('2026-11-21T10:00:00.000Z');
  const after = (
    step: Parameters<typeof statusAfter>[0],
    status: LicenseStatus,
    redeemed_at: Date | null,
    status_before_ban: LicenseStatus | null = null,
  ) => statusAfter(step, { status, redeemed_at, status_before_ban });
  for (const redeemed_at of [null, at]) {
    const before = redeemed_at ? 'redeemed' : 'unused';
    expect(after('ban', before, redeemed_at)).toBe('banned');
    expect(after('ban', 'paused', redeemed_at)).toBe('banned');
    expect(after('ban', 'banned', redeemed_at)).toBeUndefined();
    expect(after('unban', 'banned', redeemed_at)).toBe(before);
    for (const status of [before, 'paused'] as const)
      expect(after('unban', 'banned', redeemed_at, status)).toBe(status);
    expect(after('pause', before, redeemed_at)).toBe('paused');
    expect(after('resume', 'paused', redeemed_at)).toBe(before);
    for (const status of [before, 'paused'] as const)
      expect(after('unban', status, redeemed_at)).toBeUndefined();
    for (const status of ['paused', 'banned'] as const)
      expect(after('pause', status, redeemed_at)).toBeUndefined();
    for (const status of [before, 'banned'] as const)
      expect(after('resume', status, redeemed_at)).toBeUndefined();
  }
});

test('redeem_by can be moved later or removed, but not moved earlier', () => {
  const [early, late] = [new Date(1), new Date(2)];
  expect(isNotEarlier(late, early)).toBe(true);
  expect(isNotEarlier(early, early)).toBe(true);
  expect(isNotEarlier(null, early)).toBe(true);
  expect(isNotEarlier(null, null)).toBe(true);
  expect(isNotEarlier(early, late)).toBe(false);
  expect(isNotEarlier(late, null)).toBe(false);
});
