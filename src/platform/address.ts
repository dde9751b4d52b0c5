import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The client that sent a request. */
export interface Client {
  /** In canonical form; computed on first use, because most requests never need it. */
  readonly address: string;
  /** The `User-Agent` that it sends, where that is known. */
  readonly userAgent?: string | undefined;
}

/**
 * The canonical form of an IP address: IPv4-mapped IPv6 as IPv4 (RFC 4291, section 2.5.5.2), other IPv6 by RFC 5952,
 * without a zone.
 * @returns undefined if the text is not an address
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIP(text) === 0) return undefined;
  return ipaddr.process(text.split('%', 1)[0]!).toString();
}

/**
 * The range of addresses that one client can choose from: a single IPv4 address, or the /64 of an IPv6 address.
 * @param address in canonical form
 */
export function addressBlock(address: string): string {
  if (isIP(address) !== 6) return address;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64`;
}

/**
 * The canonical form of a network in CIDR notation. A single address counts as a network.
 * @returns undefined if the text is not a network, or has bits set after its prefix
 */
export function canonicalNetwork(text: string): string | undefined {
  const [written = '', prefix, ...rest] = text.split('/');
  if (rest.length > 0 || isIP(written) === 0 || written.includes('%')) return undefined;
  const bits = isIP(written) === 4 ? 32 : 128;
  if (prefix !== undefined && !(/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits))
    return undefined;
  const mapped = isIP(written) === 6 && ipaddr.IPv6.parse(written).isIPv4MappedAddress();
  const length = Number(prefix ?? bits) - (mapped ? 96 : 0);
  if (length < 0) return undefined;
  const address = ipaddr.process(written).toString();
  const family = isIP(address) === 4 ? ipaddr.IPv4 : ipaddr.IPv6;
  const first = family.networkAddressFromCIDR(`${address}/${length}`).toString();
  return first === address ? `${address}/${length}` : undefined;
}

/**
 * Whether a network contains an address.
 * @param network in CIDR form
 * @param address in canonical form
 */
export function isWithin(network: string, address: string): boolean {
  if (isIP(address) === 0) return false;
  const range = ipaddr.parseCIDR(network);
  const parsed = ipaddr.parse(address);
  return parsed.kind() === range[0].kind() && parsed.match(range);
}

/** All IPv6 addresses that are assigned to the public Internet (RFC 4291, section 2.4, and IANA's registry). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address belongs to the public Internet: not one of the special-purpose addresses of RFC 6890 (private,
 * loopback, link-local, shared, documentation, multicast), and not one that embeds another address (6to4, Teredo,
 * NAT64). IPv4-mapped IPv6 counts as the IPv4 address that it represents.
 */
export function isPublicAddress(text: string): boolean {
  const canonical = canonicalAddress(text);
  if (canonical === undefined) return false;
  const address = ipaddr.parse(canonical);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_UNICAST);
}
