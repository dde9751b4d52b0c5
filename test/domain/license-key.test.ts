import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalLicenseKey, generateLicenseKey } from '../../src/licenses/license-key.ts';
import { redeemability } from '../../src/licenses/license-state.ts';
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

test('how a person types it does not matter', () => {
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

test('one mistyped character is found', () => {
  const change = fc.record({ made: key, place: fc.nat(24), by: fc.integer({ min: 1, max: 31 }) });
  fc.assert(
    fc.property(change, ({ made, place, by }) => {
      const characters = [...made.replaceAll('-', '')];
      characters[place] = ALPHABET[(ALPHABET.indexOf(characters[place]!) + by) % 32]!;
      expect(canonicalLicenseKey(characters.join(''))).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

test.each([
  '',
  '-',
  'AAAAA',
  '00000-00000-00000-00000-0000',
  '00000-00000-00000-00000-000000',
  'ÄÖÜ',
  '\u0000',
])('%j is no key', (input) => expect(canonicalLicenseKey(input)).toBeUndefined());

test('keys are spread over the whole alphabet', () => {
  const seen = new Set(
    Array.from({ length: 200 }, () => generateLicenseKey(systemRandom))
      .join('')
      .replaceAll('-', ''),
  );
  expect([...seen].sort().join('')).toBe(ALPHABET);
});

test('a licence can be redeemed up to its last moment', () => {
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
