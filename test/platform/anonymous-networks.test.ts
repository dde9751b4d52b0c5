import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  openAnonymousNetworks,
  type AnonymousNetworks,
} from '../../src/platform/anonymous-networks/index.ts';
import { temporaryFolder } from '../support/processes.ts';
import { captureLog, ERROR, INFO, type LogEntry } from '../support/collected-log.ts';
import { writeMaxMindDatabase } from './support/mmdb-writer.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'networks');
});

interface Opened {
  readonly networks: AnonymousNetworks;
  readonly entries: LogEntry[];
}

async function open(path: string | undefined = file): Promise<Opened> {
  const { logger, entries } = captureLog();
  return { networks: await openAnonymousNetworks({ file: path, logger }), entries };
}

async function openList(content: string | Buffer): Promise<Opened> {
  await writeFile(file, content);
  return open();
}

/** Replaces the file by a rename, as careful tools do. */
async function replace(content: string | Buffer): Promise<void> {
  await writeFile(`${file}.new`, content);
  await rename(`${file}.new`, file);
}

const errors = ({ entries }: Opened) => entries.filter(({ level }) => level >= ERROR);
const messages = (opened: Opened) => errors(opened).map(({ err }) => (err as Error).message);

describe('without a list', () => {
  test('nothing is known, and nothing is logged', async () => {
    const opened = await openAnonymousNetworksWithoutFile();
    expect(opened.networks.has('192.0.2.1')).toBeUndefined();
    expect(await opened.networks.refresh()).toBe(0);
    expect(opened.entries).toEqual([]);
  });

  async function openAnonymousNetworksWithoutFile(): Promise<Opened> {
    const { logger, entries } = captureLog();
    return { networks: await openAnonymousNetworks({ file: undefined, logger }), entries };
  }
});

describe('a list of networks', () => {
  /** The list, an address, and whether the list contains it. */
  const cases: readonly (readonly [list: string, address: string, expected: boolean | undefined])[] = [
    ['192.0.2.0/24', '192.0.1.255', false],
    ['192.0.2.0/24', '192.0.2.0', true],
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.6', false],
    ['192.0.2.7/32', '192.0.2.8', false],
    ['0.0.0.0/0', '0.0.0.0', true],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '::', true],
    ['::/0', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', true],
    ['::/0', '192.0.2.1', false],
    ['2001:db8::1/128', '2001:db8::1', true],
    ['2001:db8::1/128', '2001:db8::2', false],
    ['2001:db8::1', '2001:db8::', false],
    ['2001:DB8::/32', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', true],
    ['2001:db8::/32', '2001:db9::', false],
    // One within another, listed before and after it, and one next to it.
    ['10.1.2.0/24\n10.0.0.0/8\n10.200.0.0/16', '10.255.255.255', true],
    ['10.0.0.0/8\n10.1.2.0/24', '10.1.3.0', true],
    ['10.0.0.0/8\n10.0.0.0/24', '10.9.9.9', true],
    ['10.0.0.0/8\n10.0.0.0/8', '11.0.0.0', false],
    ['192.0.2.0/25\n192.0.2.128/25', '192.0.2.127', true],
    ['192.0.2.0/25\n192.0.2.128/25', '192.0.2.128', true],
    ['192.0.2.0/25\n192.0.2.128/25', '192.0.3.0', false],
    // Bits after the prefix do not count.
    ['192.0.2.77/24', '192.0.2.1', true],
    ['2001:db8::77/64', '2001:db8::1', true],
    // IPv4-mapped IPv6 is IPv4, on either side.
    ['192.0.2.0/24', '::ffff:192.0.2.1', true],
    ['192.0.2.0/24', '::FFFF:C000:0201', true],
    ['::ffff:192.0.2.0/120', '192.0.2.1', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['::ffff:0:0/96', '203.0.113.9', true],
    // No range is special.
    ['127.0.0.0/8\n169.254.0.0/16\n192.168.0.0/16\nfe80::/10\n::1', '127.0.0.1', true],
    ['127.0.0.0/8\n169.254.0.0/16\n192.168.0.0/16\nfe80::/10\n::1', '192.168.1.1', true],
    ['127.0.0.0/8\n169.254.0.0/16\n192.168.0.0/16\nfe80::/10\n::1', '::1', true],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['192.0.2.1', '127.0.0.1', false],
    // Notation.
    ['\ufeff192.0.2.1', '192.0.2.1', true],
    ['# all\r\n\r\n  192.0.2.1  \r\n\t2001:db8::/32 # and this\r\n', '192.0.2.1', true],
    ['# all\r\n\r\n  192.0.2.1  \r\n\t2001:db8::/32 # and this\r\n', '2001:db8::1', true],
    ['#10.0.0.1\n192.0.2.1', '10.0.0.1', false],
    // Not an address.
    ...[
      '',
      ' ',
      'localhost',
      '192.0.2',
      '192.0.2.256',
      '192.0.2.1/32',
      '192.0.2.1:80',
      '010.0.0.1',
      '0xc0000201',
    ].map((text) => ['0.0.0.0/0\n::/0', text, undefined] as const),
    ...['3221225985', ':::', '1::2::3', '[::1]', '::1\n', 'unix:', '\0', '__proto__'].map(
      (text) => ['0.0.0.0/0\n::/0', text, undefined] as const,
    ),
  ];

  test.each(cases)('%j: %j is %s', async (list, address, expected) => {
    const opened = await openList(list);
    expect(opened.networks.has(address)).toBe(expected);
    expect(errors(opened)).toEqual([]);
  });

  const unreadable: readonly (readonly [list: string, message: string])[] = [
    ['192.0.2.1\n\n# fine\nexample.com\n192.0.2.2', 'line 4 is neither an address nor a network'],
    ['192.0.2.1\r\n192.0.2.256\r\n', 'line 2 is neither an address nor a network'],
    ...[
      '192.0.2.0/33',
      '192.0.2.0/-1',
      '192.0.2.0/',
      '192.0.2.0/024',
      '192.0.2.0/24/24',
      '192.0.2.0/255.255.255.0',
      '192.0.2.0-192.0.2.9',
      '192.0.2.1,192.0.2.2',
      '192.0.2.1 192.0.2.2',
      '192.0.2',
      '010.0.0.1',
      '3221225985',
      '2001:db8::/129',
      '2001:db8:::',
      'fe80::1%eth0',
      '::ffff:192.0.2.0/95',
      '/24',
      '<!doctype html>',
      '192.0.2.1 ; comment',
    ].map((line) => [line, 'line 1 is neither an address nor a network'] as const),
    ['', 'it holds no network'],
    ['\r\n# nothing yet\r\n', 'it holds no network'],
  ];

  test.each(unreadable)('%j is not read at all', async (list, message) => {
    const opened = await openList(list);
    expect(opened.networks.has('192.0.2.1')).toBeUndefined();
    expect(errors(opened)).toMatchObject([
      { file, msg: 'the list of anonymous networks cannot be read', err: { message } },
    ]);
  });

  test('agrees with a comparison of bits, network by network', async () => {
    const ipv4 = fc
      .array(fc.constantFrom(0, 1, 10, 127, 128, 254, 255), { minLength: 4, maxLength: 4 })
      .map((octets) => octets.join('.'));
    const ipv6 = fc
      .array(fc.constantFrom('0', '1', '2001', '7fff', '8000', 'ffff'), { minLength: 8, maxLength: 8 })
      .map((parts) => parts.join(':'))
      .filter((address) => !ipaddr.IPv6.parse(address).isIPv4MappedAddress());
    const line = fc.oneof(
      fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })).map(([address, prefix]) => `${address}/${prefix}`),
      fc.tuple(ipv6, fc.integer({ min: 0, max: 128 })).map(([address, prefix]) => `${address}/${prefix}`),
      fc
        .tuple(ipv4, fc.integer({ min: 0, max: 32 }))
        .map(([address, prefix]) => `::ffff:${address}/${prefix + 96}`),
      ipv4,
      ipv6,
    );
    const lineEnd = fc.constantFrom('\n', '\r\n', '\n\n', ' # why\n');
    const probes = fc.array(fc.oneof(ipv4, ipv6, fc.ipV4(), fc.ipV6()), { minLength: 10, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 30 }),
        lineEnd,
        probes,
        async (lines, end, addresses) => {
          const opened = await openList(lines.join(end));
          expect(errors(opened)).toEqual([]);
          for (const address of [...addresses, ...lines.flatMap(edgesOf)]) {
            const expected = lines.some((network) => isWithin(address, network));
            expect(opened.networks.has(address), address).toBe(expected);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('can have 200,000 networks, and other work runs while it is read', async () => {
    const lines: string[] = [];
    for (let n = 0; n < 100_000; n += 1) {
      // Every other one, the last first.
      const mixed = 99_999 - n;
      lines.push(`${10 + (mixed >> 15)}.${(mixed >> 7) & 255}.${(mixed & 127) * 2}.0/24`);
      lines.push(`2001:db8:${(mixed >> 8).toString(16)}:${((mixed & 255) * 2).toString(16)}::/64`);
    }
    await writeFile(file, lines.join('\n'));
    let iterations = 0;
    let reading = true;
    const count = () => {
      iterations += 1;
      if (reading) setImmediate(count);
    };
    setImmediate(count);
    const { networks, entries } = await open();
    reading = false;
    expect(entries).toMatchObject([{ level: INFO, networks: 200_000 }]);
    expect(iterations).toBeGreaterThan(100);
    for (let n = 0; n < 100_000; n += 37) {
      const [high, middle, low] = [10 + (n >> 15), (n >> 7) & 255, (n & 127) * 2];
      expect(networks.has(`${high}.${middle}.${low}.200`)).toBe(true);
      expect(networks.has(`${high}.${middle}.${low + 1}.200`)).toBe(false);
      const [third, fourth] = [(n >> 8).toString(16), (n & 255) * 2];
      expect(networks.has(`2001:db8:${third}:${fourth.toString(16)}:1::`)).toBe(true);
      expect(networks.has(`2001:db8:${third}:${(fourth + 1).toString(16)}::`)).toBe(false);
    }
  });
});

/** The first and the last address of a network, and the addresses next to them if they exist. */
function edgesOf(network: string): string[] {
  const { bits, prefix } = bitsOf(network);
  const first = BigInt(`0b${bits.slice(0, prefix).padEnd(bits.length, '0')}`);
  const last = BigInt(`0b${bits.slice(0, prefix).padEnd(bits.length, '1')}`);
  return [first - 1n, first, last, last + 1n]
    .filter((value) => value >= 0n && value < 1n << BigInt(bits.length))
    .map((value) => {
      const bytes = Buffer.from(value.toString(16).padStart(bits.length / 4, '0'), 'hex');
      return ipaddr.fromByteArray([...bytes]).toString();
    });
}

function isWithin(address: string, network: string): boolean {
  const one = bitsOf(address);
  const { bits, prefix } = bitsOf(network);
  return one.bits.length === bits.length && one.bits.startsWith(bits.slice(0, prefix));
}

function bitsOf(network: string): { bits: string; prefix: number } {
  const [text, prefix] = network.split('/') as [string, string?];
  const address = ipaddr.process(text);
  const bits = address
    .toByteArray()
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  const mapped = text.includes(':') && address.kind() === 'ipv4';
  return { bits, prefix: prefix === undefined ? bits.length : Number(prefix) - (mapped ? 96 : 0) };
}

describe('a MaxMind database', () => {
  const FLAGS = [
    'is_anonymous',
    'is_anonymous_vpn',
    'is_hosting_provider',
    'is_public_proxy',
    'is_residential_proxy',
    'is_tor_exit_node',
  ];
  const database = (options: Partial<Parameters<typeof writeMaxMindDatabase>[0]> = {}) =>
    writeMaxMindDatabase({
      type: 'GeoIP2-Anonymous-IP',
      ipVersion: 6,
      networks: {
        '1.2.0.0/16': { is_anonymous: true, is_anonymous_vpn: true },
        '5.6.7.8/32': { is_anonymous: false },
        '9.0.0.0/8': {},
        '127.0.0.1/32': { is_tor_exit_node: true },
        '2001:db8::/32': { is_hosting_provider: true },
        '2001:db9::1/128': { is_public_proxy: true },
      },
      ...options,
    });

  test.each([
    ['1.1.255.255', false],
    ['1.2.0.0', true],
    ['1.2.255.255', true],
    ['1.3.0.0', false],
    ['::ffff:1.2.3.4', true],
    ['::ffff:1.3.0.0', false],
    ['5.6.7.8', false],
    ['9.9.9.9', false],
    ['127.0.0.1', true],
    ['2001:db8:1::', true],
    ['2001:db9::1', true],
    ['2001:db9::1%eth0', true],
    ['2001:db9::2', false],
    ['::1', false],
    ['255.255.255.255', false],
    ['1.2', undefined],
    ['', undefined],
  ])('%j is %s', async (address, expected) => {
    const opened = await openList(database());
    expect(opened.networks.has(address)).toBe(expected);
    expect(opened.entries).toMatchObject([
      { level: INFO, file, type: 'GeoIP2-Anonymous-IP', built: '2026-11-18T11:06:40.000Z' },
    ]);
  });

  test.each(FLAGS)('%s counts', async (flag) => {
    const networks = { '1.0.0.0/8': { [flag]: true }, '2.0.0.0/8': { [flag]: false } };
    const opened = await openList(database({ networks }));
    expect(opened.networks.has('1.0.0.1')).toBe(true);
    expect(opened.networks.has('2.0.0.1')).toBe(false);
  });

  test('other members do not count', async () => {
    const networks = { '1.0.0.0/8': { is_anycast: true, provider_name: 'Example' } };
    expect((await openList(database({ networks }))).networks.has('1.0.0.1')).toBe(false);
  });

  test('one of IPv4 alone matches no IPv6 address', async () => {
    const networks = { '0.0.0.0/1': { is_anonymous: true } };
    const opened = await openList(database({ ipVersion: 4, networks }));
    expect(opened.networks.has('1.0.0.1')).toBe(true);
    expect(opened.networks.has('::ffff:1.0.0.1')).toBe(true);
    expect(opened.networks.has('200.0.0.1')).toBe(false);
    expect(opened.networks.has('2001:db8::1')).toBe(false);
  });

  test('is detected by its content, not its name', async () => {
    await writeFile(join(folder, 'list.txt'), database());
    await writeFile(join(folder, 'list.mmdb'), '192.0.2.0/24');
    expect((await open(join(folder, 'list.txt'))).networks.has('1.2.3.4')).toBe(true);
    expect((await open(join(folder, 'list.mmdb'))).networks.has('192.0.2.1')).toBe(true);
  });

  test.each([
    ['of something else', database({ type: 'GeoIP2-City' }), /of the type GeoIP2-City, not of anonymous/],
    ['cut off before its end', database().subarray(0, -50), /^it is a MaxMind database that cannot be read/],
    ['without its end', database().subarray(0, -400), /neither a text file of networks nor a whole/],
    ['cut off at its beginning', database().subarray(600), /with a part missing/],
    ['packed', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), /neither a text file of networks nor a whole/],
    ['that is its marker alone', Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), /that cannot be read/],
  ])('one %s is not read', async (_title, content, message) => {
    const opened = await openList(content);
    expect(opened.networks.has('1.2.3.4')).toBeUndefined();
    expect(messages(opened)).toEqual([expect.stringMatching(message)]);
  });

  test('in a damaged part, nothing is known, and that is logged once', async () => {
    const content = database();
    const data = content.indexOf(Buffer.alloc(16)) + 16;
    content.fill(0, data, data + 4);
    const opened = await openList(content);
    expect(opened.networks.has('1.2.3.4')).toBeUndefined();
    expect(opened.networks.has('1.2.3.4')).toBeUndefined();
    expect(opened.networks.has('8.8.8.8')).toBe(false);
    expect(errors(opened)).toHaveLength(1);
  });
});

describe('refreshing', () => {
  test('does nothing while the file is the same', async () => {
    const opened = await openList('192.0.2.1');
    expect(await opened.networks.refresh()).toBe(0);
    expect(await opened.networks.refresh()).toBe(0);
    expect(opened.entries).toHaveLength(1);
  });

  test('reads a file that took its place, also one of the same size and time', async () => {
    await writeFile(file, '192.0.2.1');
    await utimes(file, 1_795_000_000, 1_795_000_000);
    const opened = await open();
    await replace('192.0.2.2');
    await utimes(file, 1_795_000_000, 1_795_000_000);
    expect(await opened.networks.refresh()).toBe(1);
    expect(await opened.networks.refresh()).toBe(0);
    expect(opened.networks.has('192.0.2.1')).toBe(false);
    expect(opened.networks.has('192.0.2.2')).toBe(true);
  });

  test('reads a file that was written to within the same second', async () => {
    await writeFile(file, '192.0.2.1');
    await utimes(file, 1_795_000_000.25, 1_795_000_000.25);
    const opened = await open();
    await writeFile(file, '192.0.2.2');
    await utimes(file, 1_795_000_000.75, 1_795_000_000.75);
    expect(await opened.networks.refresh()).toBe(1);
    expect(opened.networks.has('192.0.2.2')).toBe(true);
  });

  test('follows from one kind of file to the other', async () => {
    const opened = await openList('192.0.2.1');
    const networks = { '192.0.2.2/32': { is_anonymous: true } };
    await replace(writeMaxMindDatabase({ type: 'GeoIP2-Anonymous-IP', ipVersion: 6, networks }));
    expect(await opened.networks.refresh()).toBe(1);
    expect(opened.networks.has('192.0.2.1')).toBe(false);
    expect(opened.networks.has('192.0.2.2')).toBe(true);
    await replace('192.0.2.3');
    expect(await opened.networks.refresh()).toBe(1);
    expect(opened.networks.has('192.0.2.3')).toBe(true);
  });

  test.each([
    ['a broken one', () => replace('192.0.2.2\nbroken'), /^line 2 is neither/],
    ['an empty one', () => replace(''), /^it holds no network$/],
    ['a folder', () => rm(file).then(() => mkdir(file)), /^it is not a file$/],
    ['nothing', () => rm(file), /^ENOENT/],
  ])(
    'keeps the last good list when %s replaces it, logs that once, and reads the next file',
    async (_title, change, why) => {
      const opened = await openList('192.0.2.1');
      await change();
      expect(await opened.networks.refresh()).toBe(0);
      expect(await opened.networks.refresh()).toBe(0);
      expect(opened.networks.has('192.0.2.1')).toBe(true);
      expect(opened.networks.has('192.0.2.2')).toBe(false);
      expect(messages(opened)).toEqual([expect.stringMatching(why)]);

      await rm(file, { recursive: true, force: true });
      await replace('192.0.2.2');
      expect(await opened.networks.refresh()).toBe(1);
      expect(opened.networks.has('192.0.2.2')).toBe(true);
      expect(opened.entries.at(-1)).toMatchObject({ level: INFO, networks: 1 });
    },
  );

  test('reads a file that was missing or incomplete at first', async () => {
    const opened = await open();
    expect(opened.networks.has('192.0.2.1')).toBeUndefined();
    await replace('broken');
    expect(await opened.networks.refresh()).toBe(0);
    expect(opened.networks.has('192.0.2.1')).toBeUndefined();
    await writeFile(file, '192.0.2.1');
    expect(await opened.networks.refresh()).toBe(1);
    expect(opened.networks.has('192.0.2.1')).toBe(true);
    expect(messages(opened)).toEqual([expect.stringMatching(/^ENOENT/), expect.stringMatching(/^line 1/)]);
  });

  test('logs another failure after a success', async () => {
    const opened = await openList('broken');
    await replace('192.0.2.1');
    await opened.networks.refresh();
    await replace('broken');
    await opened.networks.refresh();
    expect(messages(opened)).toHaveLength(2);
  });

  test('at the same time reads once', async () => {
    const opened = await openList('192.0.2.1');
    await replace('192.0.2.2');
    expect(await Promise.all([1, 2, 3].map(() => opened.networks.refresh()))).toEqual([1, 1, 1]);
    expect(opened.entries).toHaveLength(2);
  });
});
