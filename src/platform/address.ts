import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Where a request comes from. */
export interface Client {
  /** In canonical form; worked out when it is first asked for, because most answers do without. */
  readonly address: string;
}

/**
 * An IP address in its one written form: IPv4-mapped IPv6 as IPv4 (RFC 4291, section 2.5.5.2), other IPv6 by RFC 5952,
 * without a zone.
 * @returns undefined for what is no address
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIP(text) === 0) return undefined;
  return ipaddr.process(text.split('%', 1)[0]!).toString();
}

/**
 * What one client can choose its addresses from: an IPv4 address alone, of IPv6 the whole /64.
 * @param address in canonical form
 */
export function addressBlock(address: string): string {
  if (isIP(address) !== 6) return address;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64`;
}

/**
 * A network in CIDR form; an address is a network of its own.
 * @returns undefined for what is none, or has bits set behind its prefix
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
 * Whether a network holds an address.
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
 * Whether an address belongs to a machine on the public Internet: none of the special-purpose ones of RFC 6890 (private,
 * loopback, link-local, shared, documentation, multicast) and none that carries another address in it (6to4, Teredo, NAT64).
 * IPv4-mapped IPv6 is judged as the IPv4 that it stands for.
 */
export function isPublicAddress(text: string): boolean {
  const canonical = canonicalAddress(text);
  if (canonical === undefined) return false;
  const address = ipaddr.parse(canonical);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_UNICAST);
}
