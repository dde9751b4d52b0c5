import fc from 'fast-check';
import { BlockList, isIP } from 'node:net';
import { describe, expect, test } from 'vitest';
import { addressBlock, canonicalAddress, canonicalNetwork } from '../../src/platform/address.ts';

const SEED = 20_261_121;
const address = fc.oneof(fc.ipV4(), fc.ipV6());
const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });

/** An IPv6 address without any abbreviation. */
const written = (parts: readonly number[]) =>
  parts.map((part) => part.toString(16).padStart(4, '0')).join(':');
const isMapped = (parts: readonly number[]) =>
  parts.slice(0, 5).every((part) => part === 0) && parts[5] === 0xffff;

function check<Values extends [unknown, ...unknown[]]>(
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  holds: (...values: Values) => void,
): void {
  fc.assert(
    fc.property(fc.tuple(...arbitraries), (values) => holds(...(values as Values))),
    {
      seed: SEED,
      numRuns: 500,
    },
  );
}

describe('canonicalAddress', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['0.0.0.0', '0.0.0.0'],
    ['::', '::'],
    ['::1', '::1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    // RFC 5952, section 4.2: the longest run of zeros is shortened, the first of two, and not a single group.
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    // RFC 4291, section 2.5.5.2: the same machine in the notation of the other family.
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1%25eth0', 'fe80::1'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
  });

  test.each([
    '',
    ' ',
    'localhost',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.07',
    '0xcb.0.113.7',
    '3405803783',
    ' 203.0.113.7',
    '203.0.113.7 ',
    '203.0.113.7:80',
    '203.0.113.0/24',
    '[::1]',
    '::1::',
    '1:2:3:4:5:6:7:8:9',
    '::g',
    '::ffff:999.0.0.1',
    '%eth0',
    '\u0000',
    '２０３.0.113.7',
  ])('%j is not an address', (text) => {
    expect(canonicalAddress(text)).toBeUndefined();
  });

  test('is idempotent', () => {
    check([address], (text) => {
      const canonical = canonicalAddress(text)!;
      expect(isIP(canonical)).toBeGreaterThan(0);
      expect(canonicalAddress(canonical)).toBe(canonical);
    });
  });

  test('is the same for every notation of an address, and different for every other address', () => {
    check([groups, groups], (first, second) => {
      const [one, two] = [written(first), written(second)];
      expect(canonicalAddress(one.toUpperCase())).toBe(canonicalAddress(one));
      const short = first.map((part) => part.toString(16)).join(':');
      expect(canonicalAddress(short)).toBe(canonicalAddress(one));
      expect(canonicalAddress(one) === canonicalAddress(two)).toBe(one === two);
    });
  });

  test('of IPv6 is the notation of other software', () => {
    check([groups], (parts) => {
      fc.pre(!isMapped(parts));
      const text = written(parts);
      expect(`[${canonicalAddress(text)}]`).toBe(new URL(`http://[${text}]`).hostname);
    });
  });

  test('of an IPv4-mapped IPv6 address is the IPv4 address', () => {
    check([octets], (parts) => {
      const text = parts.join('.');
      expect(canonicalAddress(text)).toBe(text);
      expect(canonicalAddress(`::ffff:${text}`)).toBe(text);
      const [a, b, c, d] = parts;
      expect(canonicalAddress(written([0, 0, 0, 0, 0, 0xffff, a * 256 + b, c * 256 + d]))).toBe(text);
    });
  });
});

describe('addressBlock', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::1', '::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
    ['2001:db8:1:ffff:ffff:ffff:ffff:ffff', '2001:db8:1:ffff::/64'],
  ])('of %s is %s', (text, block) => {
    expect(addressBlock(text)).toBe(block);
  });

  test('of two IPv6 addresses is the same if and only if their first 64 bits are', () => {
    check([groups, groups], (first, second) => {
      const neighbor = [...first.slice(0, 4), ...second.slice(4)];
      const stranger = [...first.slice(0, 3), first[3]! ^ 1, ...first.slice(4)];
      fc.pre(![first, neighbor, stranger].some(isMapped));
      const blockOf = (parts: readonly number[]) => addressBlock(canonicalAddress(written(parts))!);
      expect(blockOf(neighbor)).toBe(blockOf(first));
      expect(blockOf(stranger)).not.toBe(blockOf(first));
    });
  });

  test('of an IPv4 address is the address', () => {
    check([octets], (parts) => {
      expect(addressBlock(parts.join('.'))).toBe(parts.join('.'));
    });
  });
});

describe('canonicalNetwork', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.7/32', '203.0.113.7/32'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['203.0.113.128/25', '203.0.113.128/25'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:db8::1', '2001:db8::1/128'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
    ['::ffff:0.0.0.0/96', '0.0.0.0/0'],
    ['::ffff:203.0.113.7', '203.0.113.7/32'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalNetwork(text)).toBe(canonical);
  });

  test.each([
    '',
    '/',
    '/24',
    'localhost/8',
    '203.0.113.0/',
    '203.0.113.0/33',
    '203.0.113.0/024',
    '203.0.113.0/+24',
    '203.0.113.0/2e1',
    '203.0.113.0/-1',
    '203.0.113.0/255.255.255.0',
    '203.0.113.0/24/24',
    '203.0.113.1/24',
    ' 203.0.113.0/24',
    '203.0.113.0/24 ',
    '::/129',
    '2001:db8::1/32',
    'fe80::1%eth0',
    'fe80::%eth0/10',
    '::ffff:203.0.113.0/95',
    '::ffff:203.0.113.1/120',
    '::ffff:0:0/0',
  ])('%j is not valid', (text) => {
    expect(canonicalNetwork(text)).toBeUndefined();
  });

  test('is idempotent', () => {
    check([address, fc.nat(128)], (text, prefix) => {
      const canonical = canonicalNetwork(`${text}/${prefix}`);
      if (canonical !== undefined) expect(canonicalNetwork(canonical)).toBe(canonical);
      expect(canonicalNetwork(text)).toBe(
        `${canonicalAddress(text)}/${isIP(canonicalAddress(text)!) === 4 ? 32 : 128}`,
      );
    });
  });

  test('is valid if and only if no bit after the prefix is set', () => {
    check([octets, fc.nat(32)], (parts, prefix) => {
      const value = parts.reduce((sum, part) => sum * 256 + part, 0);
      const clean = value % 2 ** (32 - prefix) === 0;
      expect(canonicalNetwork(`${parts.join('.')}/${prefix}`) !== undefined).toBe(clean);
    });
  });

  test('of an address contains it, in the notation of other software', () => {
    check([octets, fc.nat(32), octets], (parts, prefix, other) => {
      const value = parts.reduce((sum, part) => sum * 256 + part, 0);
      const first = value - (value % 2 ** (32 - prefix));
      const network = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join('.');
      const [base, length] = canonicalNetwork(`${network}/${prefix}`)!.split('/') as [string, string];
      const list = new BlockList();
      list.addSubnet(base, Number(length));
      expect(list.check(parts.join('.'))).toBe(true);
      const far = other.reduce((sum, part) => sum * 256 + part, 0);
      expect(list.check(other.join('.'))).toBe(far >= first && far < first + 2 ** (32 - prefix));
    });
  });
});
