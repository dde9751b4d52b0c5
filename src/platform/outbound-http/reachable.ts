import { BlockList, isIP } from 'node:net';
import { canonicalAddress, isPublicAddress } from '../address.ts';

const LOWEST_OWN_PORT = 1024;
const WEB_PORTS = ['', '80', '443'];

/** The addresses that requests may connect to. */
export interface Reachable {
  /** Whether an address is allowed: it is public, or in one of the networks that the configuration names. */
  address(address: string): boolean;
  /**
   * What is wrong with a URL before name resolution.
   * @returns words that complete "the URL …"; undefined if nothing is
   */
  fault(url: string): string | undefined;
}

/** @param networks allowed networks that are not public, in CIDR form */
export function createReachable(networks: readonly string[]): Reachable {
  const allowed = new BlockList();
  for (const network of networks) {
    const [address, prefix] = network.split('/') as [string, string];
    allowed.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }

  function isAllowed(address: string): boolean {
    const canonical = canonicalAddress(address);
    if (canonical === undefined) return false;
    return isPublicAddress(canonical) || allowed.check(canonical, isIP(canonical) === 4 ? 'ipv4' : 'ipv6');
  }

  return {
    address: isAllowed,
    fault(text) {
      const url = URL.parse(text);
      if (!url || !/^https?:$/.test(url.protocol)) return 'must be an http or https URL';
      if (url.username || url.password) return 'must not hold credentials';
      if (!WEB_PORTS.includes(url.port) && Number(url.port) < LOWEST_OWN_PORT) {
        return 'must have port 80, 443 or one above 1023';
      }
      const host = hostOf(url);
      if (isIP(host) !== 0 && !isAllowed(host)) return 'must not be a private, local or reserved address';
      return undefined;
    },
  };
}

/** The host of a URL as a name or address: the URL parser has normalized every notation of an IPv4 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
