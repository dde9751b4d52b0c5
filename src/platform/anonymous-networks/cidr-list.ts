import { isIP } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import type { AddressList } from './address-list.ts';

/** Entries to process before yielding to the event loop: a few milliseconds of work. */
const ENTRIES_PER_YIELD = 2_000;

/** Disjoint ranges in order: the first and the last address of each. */
interface Ranges<Value extends number | bigint> {
  readonly firsts: Value[];
  readonly lasts: Value[];
}

/**
 * Reads a list of networks: one IPv4 or IPv6 address, or one network in CIDR form, on each line; `#` begins a comment.
 * Bits after the prefix are ignored. IPv4-mapped IPv6 counts as IPv4.
 * @throws Error that names a line that cannot be read, or if there is no network: a partial list, or the empty file
 *   of a failed download, would silently let addresses through
 */
export async function readCidrList(text: string): Promise<AddressList> {
  // One number each, address first and prefix second, so that a network sorts directly before the networks within it.
  const ipv4: number[] = [];
  const ipv6: bigint[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (index % ENTRIES_PER_YIELD === 0) await turn();
    const entry = line.split('#', 1)[0]!.trim();
    if (entry === '') continue;
    const network = parseNetwork(entry);
    if (network === undefined) throw new Error(`line ${index + 1} is neither an address nor a network`);
    if (typeof network === 'number') ipv4.push(network);
    else ipv6.push(network);
  }
  const networks = ipv4.length + ipv6.length;
  if (networks === 0) throw new Error('it holds no network');

  const rangesOfIpv4 = await merge(Float64Array.from(ipv4).sort(), (network) => {
    const first = Math.floor(network / 64);
    return [first, first + 2 ** (32 - (network % 64)) - 1];
  });
  await turn();
  const rangesOfIpv6 = await merge(ipv6.sort(compare), (network) => {
    const first = network >> 8n;
    return [first, first + (1n << (128n - (network & 255n))) - 1n];
  });
  return {
    summary: { networks },
    has(address) {
      if (!address.includes(':')) return contains(rangesOfIpv4, ipv4Value(ipaddr.IPv4.parse(address)));
      return contains(rangesOfIpv6, ipv6Value(ipaddr.IPv6.parse(address)));
    },
  };
}

/** @returns a number for IPv4, a bigint for IPv6; undefined if the entry is not a network */
function parseNetwork(entry: string): number | bigint | undefined {
  const [written = '', prefixText, ...rest] = entry.split('/');
  const family = isIP(written);
  if (family === 0 || written.includes('%') || rest.length > 0) return undefined;
  if (prefixText !== undefined && !/^(0|[1-9]\d{0,2})$/.test(prefixText)) return undefined;
  const bits = family === 4 ? 32 : 128;
  const prefix = Number(prefixText ?? bits);
  if (prefix > bits) return undefined;
  if (family === 4) return ipv4Network(ipaddr.IPv4.parse(written), prefix);
  const address = ipaddr.IPv6.parse(written);
  if (address.isIPv4MappedAddress()) {
    return prefix < 96 ? undefined : ipv4Network(address.toIPv4Address(), prefix - 96);
  }
  const hostBits = BigInt(128 - prefix);
  return (((ipv6Value(address) >> hostBits) << hostBits) << 8n) | BigInt(prefix);
}

function ipv4Network(address: ipaddr.IPv4, prefix: number): number {
  const value = ipv4Value(address);
  return (value - (value % 2 ** (32 - prefix))) * 64 + prefix;
}

function ipv4Value({ octets }: ipaddr.IPv4): number {
  return octets.reduce((value, octet) => value * 256 + octet, 0);
}

function ipv6Value({ parts }: ipaddr.IPv6): bigint {
  return parts.reduce((value, part) => (value << 16n) | BigInt(part), 0n);
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

async function merge<Value extends number | bigint>(
  networks: Iterable<Value>,
  rangeOf: (network: Value) => readonly [first: Value, last: Value],
): Promise<Ranges<Value>> {
  const firsts: Value[] = [];
  const lasts: Value[] = [];
  let count = 0;
  for (const network of networks) {
    if ((count += 1) % ENTRIES_PER_YIELD === 0) await turn();
    const [first, last] = rangeOf(network);
    const before = lasts.at(-1);
    // Networks never overlap partially: one that begins within another is part of it.
    if (before !== undefined && first <= before) continue;
    firsts.push(first);
    lasts.push(last);
  }
  return { firsts, lasts };
}

function contains<Value extends number | bigint>({ firsts, lasts }: Ranges<Value>, address: Value): boolean {
  let low = 0;
  let high = firsts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (firsts[middle]! <= address) low = middle + 1;
    else high = middle;
  }
  return low > 0 && address <= lasts[low - 1]!;
}
