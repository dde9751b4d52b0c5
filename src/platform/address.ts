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
